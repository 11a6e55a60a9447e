import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Desk } from "../approval/desk.js";
import { Audit } from "../audit/audit.js";
import { readPublicKey } from "../audit/keys.js";
import { examine } from "../doctor.js";
import { HermesError } from "../errors.js";
import { Agent, type RunningHere } from "../fleet/agent.js";
import { AppliedPolicy } from "../fleet/applied.js";
import { placeOf } from "../fleet/place.js";
import { loadConfig, userFile } from "../guard/config/load.js";
import { fleetFolder } from "../store/enrolled.js";
import { openStore, stateFolder } from "../store/open.js";
import type { Store } from "../store/store.js";
import { harmless } from "../text.js";
import { say } from "./output.js";
import { Sessions } from "./sessions.js";
import { byteCount, usage, wholeNumber } from "./values.js";

export interface AgentFlags {
  readonly store?: string;
  readonly storeFile?: string;
  readonly local?: string;
  readonly trust?: readonly string[];
  readonly traces?: string;
  readonly upload?: string;
  readonly spool?: string;
  readonly keep?: string;
}

/** Serves this host until a signal ends it. */
export async function agentCommand(flags: AgentFlags): Promise<number> {
  const url = serverOf(flags);
  const env = process.env;
  const home = homedir();
  const trusted = (flags.trust ?? []).map(keyOf);
  const local = resolve(flags.local ?? join(stateFolder(env, home), "hermes.db"));
  const keep = flags.keep === undefined ? undefined : wholeNumber("--keep", flags.keep);
  if (flags.spool !== undefined) {
    mkdirSync(dirname(local), { recursive: true, mode: 0o700 });
    writeFileSync(`${local}.limit`, `${byteCount("--spool", flags.spool)}\n`, { mode: 0o600 });
  }
  const store = await openStore(local);
  const audit = Audit.open(store);
  const places = { workspace: resolve("."), home, env };
  if (flags.upload !== undefined && flags.traces === undefined)
    throw usage("--upload brings traces somewhere: --traces says where they are");
  const traces = flags.traces === undefined ? undefined : resolve(flags.traces);
  try {
    const policy = new AppliedPolicy(fleetFolder(env, home), trusted);
    const agent = new Agent({
      url,
      store,
      audit,
      policy,
      desk: new Desk({ store, audit, userFile: userFile(places) }),
      offline: () => loadConfig(places).config.approvals.offline,
      protections: (await examine()).map(({ name, state }) => ({ name, state })),
      runs: () => runsHere(store),
      ...(keep !== undefined && { keep }),
      ...(flags.upload !== undefined && { uploads: placeOf(flags.upload) }),
      ...(traces !== undefined && { traces: () => newestTraces(traces) }),
      log: (text) => say(`hermes: ${harmless(text)}\n`),
    });
    await Promise.race((["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)));
    await agent.close();
    return 0;
  } finally {
    audit.close();
    await store.close();
  }
}

/** A file, since every user of a machine can read what stands on a command line. */
function serverOf({ store, storeFile }: AgentFlags): string {
  if (storeFile !== undefined) {
    try {
      if ((statSync(storeFile).mode & 0o077) !== 0)
        throw new HermesError("FLEET", { message: `${storeFile} can be read by others: chmod 600 it` });
      return readFileSync(storeFile, "utf8").trim();
    } catch (cause) {
      if (cause instanceof HermesError) throw cause;
      throw new HermesError("FLEET", { message: (cause as Error).message }, { cause });
    }
  }
  const url = store ?? process.env.HERMES_STORE ?? "";
  if (!/^postgres(ql)?:/i.test(url))
    throw usage("agent needs the server that hermes fleet enroll named: --store-file FILE, or HERMES_STORE");
  return url;
}

function keyOf(file: string) {
  const key = readPublicKey(file);
  if (!key) throw new HermesError("FLEET", { message: `${file}: there is no such key` });
  return key;
}

const COMMAND_AT_MOST = 200;

/** What `hermes run` and `hermes trace` supervise, and the agents that use tools. */
async function runsHere(store: Store): Promise<RunningHere[]> {
  const sessions = new Sessions();
  try {
    const supervised = (await sessions.ask()).map(({ supervisor, command, summary }) => ({
      pid: supervisor,
      command: command.join(" ").slice(0, COMMAND_AT_MOST),
      calls: summary.calls,
      denied: (summary.byAction.deny ?? 0) + (summary.byAction.kill ?? 0),
    }));
    const agents = (await store.sessions({ open: true })).map(({ pid, agent, workspace }) => ({
      pid,
      command: `${agent} in ${workspace}`.slice(0, COMMAND_AT_MOST),
      calls: 0,
      denied: 0,
    }));
    return [...supervised, ...agents];
  } finally {
    sessions.close();
  }
}

const TRACE = /\.(htrace|jsonl|jsonl\.gz)$/;

function newestTraces(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => TRACE.test(name))
    .map((name) => join(folder, name))
    .map((file) => ({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.time - a.time)
    .map(({ file }) => file);
}
