import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { FleetAgent, type RunningHere } from "../../fleet/agent.js";
import { AppliedPolicy } from "../../fleet/applied-policy.js";
import { traceStorageAt } from "../../fleet/trace-storage.js";
import { loadConfig, userFile } from "../../intent/guard/config/load.js";
import { HermesError } from "../../nouns/errors.js";
import { escapeControl } from "../../nouns/text.js";
import { AnswerService } from "../../people/approval/answer-service.js";
import { Audit } from "../../record/audit/audit.js";
import { readPublicKey } from "../../record/audit/keys.js";
import { fleetFolder } from "../../record/store/fleet-policy.js";
import { openStore, stateFolder } from "../../record/store/open.js";
import type { Store } from "../../record/store/store.js";
import { examine } from "../../session/doctor.js";
import { byteCount, usageError, wholeNumber } from "../options/values.js";
import { SessionStatusReader } from "../run/session-status.js";
import { say } from "../views/output.js";

interface AgentFlags {
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
    throw usageError("--upload needs --traces FOLDER, the folder of the traces");
  const traces = flags.traces === undefined ? undefined : resolve(flags.traces);
  try {
    const silent = new Set<number>();
    const policy = new AppliedPolicy(fleetFolder(env, home), trusted);
    const agent = new FleetAgent({
      url,
      store,
      audit,
      policy,
      answers: new AnswerService({ store, audit, userFile: userFile(places) }),
      offline: () => loadConfig(places).config.approvals.offline,
      protections: (await examine()).map(({ name, state }) => ({ name, state })),
      runs: () => runsHere(store, silent),
      ...(keep !== undefined && { keep }),
      ...(flags.upload !== undefined && { uploads: traceStorageAt(flags.upload) }),
      ...(traces !== undefined && { traces: () => newestTraces(traces) }),
      log: (text) => say(`hermes: ${escapeControl(text)}\n`),
    });
    await Promise.race((["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)));
    await agent.close();
    return 0;
  } finally {
    audit.close();
    await store.close();
  }
}

/** In a file, because all users of a machine can read command lines. */
function serverOf({ store, storeFile }: AgentFlags): string {
  if (storeFile !== undefined) {
    try {
      if ((statSync(storeFile).mode & 0o077) !== 0)
        throw new HermesError("FLEET", {
          message: `${storeFile} is readable by other users: run chmod 600 on it`,
        });
      return readFileSync(storeFile, "utf8").trim();
    } catch (cause) {
      if (cause instanceof HermesError) throw cause;
      throw new HermesError("FLEET", { message: (cause as Error).message }, { cause });
    }
  }
  const url = store ?? process.env.HERMES_STORE ?? "";
  if (!/^postgres(ql)?:/i.test(url))
    throw usageError(
      "agent needs the server address from hermes fleet enroll: --store-file FILE, or HERMES_STORE",
    );
  return url;
}

function keyOf(file: string) {
  const key = readPublicKey(file);
  if (!key) throw new HermesError("FLEET", { message: `${file}: no such key file` });
  return key;
}

const COMMAND_AT_MOST = 200;

/** Sessions of `hermes run` and `hermes trace`, and of agents that use tools. */
async function runsHere(store: Store, silent: Set<number>): Promise<RunningHere[]> {
  const sessions = new SessionStatusReader();
  try {
    const supervised = (await sessions.ask(undefined, silent)).map(({ supervisor, command, summary }) => ({
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
