import type { KeyObject } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FleetAgent, type FleetAgentOptions, type RunningHere } from "../../src/fleet/agent.js";
import { AppliedPolicy } from "../../src/fleet/applied-policy.js";
import { Fleet } from "../../src/fleet/fleet.js";
import { type Enrolled, enroll } from "../../src/fleet/hosts.js";
import type { Labels } from "../../src/fleet/labels.js";
import { AnswerService } from "../../src/people/approval/answer-service.js";
import { Audit } from "../../src/record/audit/audit.js";
import { openStore } from "../../src/record/store/open.js";
import type { Store } from "../../src/record/store/store.js";
import type { PostgresServer } from "../record/store/postgres-server.js";

/** A host with real store, audit and agent; only its runs are told. */
export class TestHost {
  readonly folder: string;
  readonly url: string;
  readonly log: string[] = [];
  runs: readonly RunningHere[] = [];
  /** With it, a run that decides on calls all the time, of which so many are refused. */
  refused: number | undefined;
  #counts = { calls: 0, denied: 0 };
  traces: readonly string[] = [];
  store!: Store;
  audit!: Audit;
  policy!: AppliedPolicy;
  agent: FleetAgent | undefined;
  offline: "deny" | "wait" | "allow" = "deny";

  constructor(url: string, folder = mkdtempSync(join(tmpdir(), "hermes-host-"))) {
    this.url = url;
    this.folder = folder;
  }

  async open(trusted: readonly KeyObject[] = []): Promise<this> {
    this.store = await openStore(join(this.folder, "hermes.db"));
    this.audit = Audit.open(this.store);
    this.policy = new AppliedPolicy(join(this.folder, "fleet"), trusted);
    return this;
  }

  start(more: Partial<FleetAgentOptions> = {}): FleetAgent {
    const { store, audit, policy, url } = this;
    this.agent = new FleetAgent({
      url,
      store,
      audit,
      answers: new AnswerService({ store, audit }),
      policy,
      offline: () => this.offline,
      protections: [{ name: "notify", state: "yes" }],
      runs: async () => (this.refused === undefined ? this.runs : [this.#busy(this.refused)]),
      traces: () => this.traces,
      log: (text) => this.log.push(text),
      tick: 50,
      look: 300,
      offlineAfter: 300,
      beat: 200,
      firstPause: 20,
      longestPause: 200,
      ...more,
    });
    return this.agent;
  }

  #busy(refused: number): RunningHere {
    const { calls, denied } = this.#counts;
    this.#counts = { calls: calls + 1000, denied: denied + Math.round(1000 * refused) };
    return { pid: 1, command: "busy", ...this.#counts };
  }

  async close(): Promise<void> {
    await this.agent?.close();
    this.audit.close();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Place {
  readonly server: PostgresServer;
  readonly url: string;
  readonly fleet: Fleet;
}

export async function place(server: PostgresServer): Promise<Place> {
  const url = await server.fresh();
  return { server, url, fleet: await Fleet.open(url) };
}

/** The way in for a role. */
export function as(url: string, { role, key }: Pick<Enrolled, "role" | "key">): string {
  return url.replace("//hermes@", `//${role}:${key}@`);
}

export async function host({ fleet, url }: Place, id: string, labels: Labels = {}): Promise<TestHost> {
  const enrolled = await fleet.write(() => enroll(id, labels, Date.now()));
  return new TestHost(as(url, enrolled)).open();
}

export const databaseOf = (url: string) => url.split("/").at(-1)!;
