import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { syscallByName } from "../abi/index.js";
import type { CallEvent } from "../event.js";
import { optionsOf } from "../guard/config/load.js";
import { hostGuard } from "../guard/host.js";
import { HOME } from "../home.js";
import { DEEDS, deedsOf } from "../policy/deeds.js";
import { flagBits, subjectsOf } from "../policy/match/subject.js";
import type { ConstantRule, Interest, Policy } from "../policy/policy.js";
import { loadYaml } from "../policy/yaml/load.js";
import { quoted } from "../policy/yaml/variables.js";
import { type Action, deny, type Verdict } from "../verdict.js";
import { PACKAGE_VERSION } from "../version.js";
import { ExecJudge } from "./exec.js";
import { machine } from "./machine.js";
import { NetworkJudge } from "./network.js";
import type { DeedOptions } from "./options.js";
import { PROCESS_JUDGES } from "./processes.js";
import { ApprovedScripts } from "./scripts.js";

/**
 * What a run was judged as becomes what the kernel holds it to. Two policies do that: rules on files (policies/tools.yaml),
 * and here the guard, asked once more about what is really run, connected to and signalled.
 */
export async function deedPolicies(options: DeedOptions): Promise<Policy[]> {
  return [await filePolicy(options), await deedPolicy(options)];
}

// ---------------------------------------------------------------- files

/** Rules are compiled once for all runs that have the same places. */
const compiled = new Map<string, Promise<Policy>>();
const MOST_COMPILED = 8;

async function filePolicy(options: DeedOptions): Promise<Policy> {
  const { workspace, home, writable, readable = [], closed = [] } = options;
  const sockets = socketsOf(options);
  const places = { workspace, home, cwd: workspace };
  const programs = installedIn(options);
  const key = JSON.stringify([places, writable, programs, sockets]);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  const rules =
    compiled.get(key) ??
    loadYaml(join(HOME, "policies/tools.yaml"), places, [], {
      ...(writable.length > 0 && { granted: writable.map(quoted) }),
      ...(programs.length > 0 && { programs: programs.map(quoted) }),
      ...(sockets.length > 0 && { sockets: sockets.map(quoted) }),
    });
  compiled.set(key, rules);
  return forRun(await rules, new Set(readable), closed);
}

/** Our own, and those that the user's configuration names. */
function socketsOf({ connect = [], config }: DeedOptions): string[] {
  const named = config?.config.urls.allow ?? [];
  return [...connect, ...named.filter((text) => text.startsWith("unix:/")).map((text) => text.slice(5))];
}

/** A program in `…/shims` or `…/bin` belongs to what is beside that folder, unless that is a home or more. */
function installedIn({ searchPath = "", home, workspace }: DeedOptions): string[] {
  const folders = searchPath.split(":").filter((folder) => folder.startsWith("/"));
  const around = folders.map((folder) => {
    const parent = dirname(resolve(folder));
    const tooMuch =
      parent.split("/").length < 3 ||
      `${home}/`.startsWith(`${parent}/`) ||
      `${workspace}/`.startsWith(`${parent}/`);
    return tooMuch ? resolve(folder) : parent;
  });
  return [...new Set(around)];
}

/** The same policy with what holds for one run. It belongs to the run: no file of it is watched. */
function forRun(policy: Policy, readable: ReadonlySet<string>, closed: readonly string[]): Policy {
  return {
    name: policy.name,
    version: policy.version,
    subscription: policy.subscription,
    decide(event) {
      if (closed.length > 0 && event.paths.some(({ path }) => closed.some((start) => path.startsWith(start))))
        return CLOSED;
      return readable.size > 0 && opensToRead(event) && readable.has(event.path!)
        ? undefined
        : policy.decide(event);
    },
    decideReturn: (event) => policy.decideReturn(event),
  };
}

const CLOSED: Verdict = { ...deny("These are the records of HERMES itself.", "ENOENT"), rule: "own-records" };

function opensToRead(event: CallEvent): boolean {
  if (!OPENING.includes(event.name) || event.path === undefined) return false;
  const bits = flagBits(syscallByName(event.name)!, event);
  return deedsOf(event.nr).every(
    ({ does, holds }) => !does.includes("write") || holds?.(bits, event) === false,
  );
}

// ---------------------------------------------------------------- programs, addresses, processes

const EXEC = ["execve", "execveat"];
const OPENING = ["open", "openat", "openat2"];

type Judge = (event: CallEvent) => Verdict | undefined;

async function deedPolicy(options: DeedOptions): Promise<Policy> {
  const { workspace, home, config, approved } = options;
  const guard = hostGuard({
    ...(config && (await optionsOf(config))),
    profile: "standard", // what is beyond it was approved with the command
    workspace,
    home,
  });
  const execs = new ExecJudge(guard, approved);
  const network = await NetworkJudge.of(options, machine);
  const starts = startsInside(options);
  const judges = new Map<number, Judge>();
  const on = (name: string, judge: Judge) => judges.set(syscallByName(name)!.nr, judge);
  const scripts = new ApprovedScripts(options);
  for (const name of EXEC)
    on(name, (event) => starts(event) ?? scripts.executed(event) ?? execs.judge(event));
  for (const name of CONNECTING) on(name, (event) => judgeAddresses(event, network));
  for (const [name, judge] of Object.entries(PROCESS_JUDGES)) on(name, judge);
  const read = (event: CallEvent) => (opensToRead(event) ? scripts.read(event) : undefined);
  if (!scripts.isEmpty) for (const name of OPENING) on(name, read);
  if (!scripts.isEmpty) on("chdir", (event) => scripts.entered(event));
  if (options.shell) {
    const stay = stays(options, options.shell);
    on("chdir", (event) => stay(event) ?? scripts.entered(event));
    on("fchdir", stay);
  }
  return {
    name: "deed",
    version: versionOf(options),
    subscription: {
      calls: new Map([...judges.keys()].map((nr) => [nr, interest(nr)])),
      constants: sockets(options),
    },
    decide: (event) => judges.get(event.nr)?.(event),
    decideReturn: () => undefined,
  };
}

const STAY = "stay";

/** Folders that a run may be in. */
function isInside({ workspace, writable }: DeedOptions, path: string): boolean {
  const folders = [workspace, "/tmp", "/var/tmp", tmpdir(), ...writable];
  return folders.some((folder) => path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`));
}

/** Where it starts is looked at when it has got there: a path may lead elsewhere than it did when it was judged. */
function startsInside(options: DeedOptions): Judge {
  let started = false;
  return ({ process: { cwd } }) => {
    if (started) return undefined;
    started = true;
    if (isInside(options, cwd)) return undefined;
    return { ...deny(`It would start in ${cwd}, outside of ${options.workspace}.`), rule: STAY };
  };
}

/** The shell and its subshells have the same words; programs that they run have others, and rules of their own. */
function stays(options: DeedOptions, shell: readonly string[]): Judge {
  const words = shell.join("\0");
  return (event) => {
    if (event.process.argv.join("\0") !== words) return undefined;
    if (isInside(options, event.path ?? event.fd?.target ?? "")) return undefined;
    return { ...deny(`The working directory stays in ${options.workspace}.`), rule: STAY };
  };
}

function interest(nr: number): Interest {
  const among = (names: readonly string[]) => names.some((name) => syscallByName(name)!.nr === nr);
  const actions: Action[] = among(EXEC) ? ["ask", "deny"] : among(OPENING) ? ["emulate", "modify"] : ["deny"];
  const when = among(CONNECTING) ? connectingCases(nr) : undefined;
  return {
    entry: true,
    returns: false,
    actions: new Set<Action>(["allow", ...actions]),
    ...(when && { when }),
  };
}

/** Every call that chooses a peer. */
const CONNECTING = [
  ...new Set(
    DEEDS.filter(({ does, on }) => does.includes("connect") && on.kind !== "socket-at").map(
      ({ call }) => call.name,
    ),
  ),
];

/** Of calls that choose a peer by some options only, those. */
function connectingCases(nr: number): Interest["when"] {
  const cases = deedsOf(nr).flatMap(({ does, when }) => (does.includes("connect") ? [when] : []));
  return cases.every((when) => when !== undefined) ? cases.flat() : undefined;
}

function judgeAddresses(event: CallEvent, network: NetworkJudge): Verdict | undefined {
  const bits = flagBits(syscallByName(event.name)!, event);
  for (const deed of deedsOf(event.nr)) {
    if (!deed.does.includes("connect") || deed.holds?.(bits, event) === false) continue;
    for (const { address } of subjectsOf(deed, event)) {
      const verdict = network.judge(address, event);
      if (verdict) return verdict;
    }
  }
  return undefined;
}

const AF_UNIX = 1n;
const AF_NETLINK = 16n;
const EACCES = 13;

/** Without a network there are no sockets for one, and nothing has to stop to be refused. */
function sockets({ network }: DeedOptions): ConstantRule[] {
  if (network !== "none") return [];
  return [
    {
      id: "no-network",
      nr: syscallByName("socket")!.nr,
      tests: [AF_UNIX, AF_NETLINK].map((value) => ({ arg: 0, width: 32, op: "ne", value })),
      action: "deny",
      errno: EACCES,
      reason: "This run has no network.",
    },
  ];
}

/** Of what all runs of an agent have in common: what was approved for one of them stands in its own records. */
function versionOf({ workspace, home, network, config }: DeedOptions): string {
  const all = JSON.stringify([PACKAGE_VERSION, workspace, home, network, config]);
  return createHash("sha256").update(all).digest("hex").slice(0, 12);
}
