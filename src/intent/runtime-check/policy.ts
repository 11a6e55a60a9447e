import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { errnoNumber, flagTable, syscallByName } from "../../abi/index.js";
import type { CallEvent } from "../../nouns/event.js";
import { HOME } from "../../nouns/home.js";
import { deny, type Verdict, type VerdictAction } from "../../nouns/verdict.js";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import { CALL_EFFECTS, callEffects } from "../../policy/call-effects.js";
import { effectSubjects, flagBits } from "../../policy/match/subject.js";
import type { CallSubscription, ConstantRule, Policy } from "../../policy/policy.js";
import { loadYaml } from "../../policy/yaml/load.js";
import { escapeGlob } from "../../policy/yaml/variables.js";
import { allowancesOf } from "../guard/config/allow.js";
import { optionsOf } from "../guard/config/load.js";
import { hostGuard } from "../guard/host.js";
import { ApprovedScripts } from "./approved-scripts.js";
import { ExecJudge } from "./exec-judge.js";
import { machineNetwork } from "./machine-network.js";
import { NetworkJudge } from "./network-judge.js";
import type { RuntimeCheckOptions } from "./options.js";
import { PROCESS_JUDGES } from "./process-judges.js";

/**
 * The policies of the runtime check: they hold a run to what the guard judged. Rules decide on files
 * (policies/tools.yaml). The guard decides again on the programs, addresses and processes that the run really uses.
 */
export async function runtimeCheckPolicies(options: RuntimeCheckOptions): Promise<Policy[]> {
  return [await filePolicy(options), await guardPolicy(options)];
}

/** Rules are compiled once for all runs with the same folders. */
const compiled = new Map<string, Promise<Policy>>();
const MOST_COMPILED = 8;

async function filePolicy(options: RuntimeCheckOptions): Promise<Policy> {
  const { workspace, home, writable, readable = [], closed = [], closedExcept = [], config } = options;
  const sockets = socketsOf(options);
  const places = { workspace, home, cwd: workspace };
  const programs = installedIn(options);
  const allowances = allowancesOf(config?.config.allow ?? [], workspace, home);
  const key = JSON.stringify([places, writable, programs, sockets, allowances]);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  const rules =
    compiled.get(key) ??
    loadYaml(
      join(HOME, "policies/tools.yaml"),
      places,
      [],
      {
        ...(writable.length > 0 && { granted: writable.map(escapeGlob) }),
        ...(programs.length > 0 && { programs: programs.map(escapeGlob) }),
        ...(sockets.length > 0 && { sockets: sockets.map(escapeGlob) }),
      },
      allowances,
    );
  compiled.set(key, rules);
  const open = new Set(readable);
  const isClosed = (path: string) =>
    closed.some((start) => path.startsWith(start)) &&
    !open.has(path) &&
    !closedExcept.some((start) => path.startsWith(start));
  return forRun(await rules, open, isClosed);
}

/** Our own sockets, and those that the user's configuration names. */
function socketsOf({ connect = [], config }: RuntimeCheckOptions): string[] {
  const named = config?.config.urls.allow ?? [];
  return [...connect, ...named.filter((text) => text.startsWith("unix:/")).map((text) => text.slice(5))];
}

/**
 * The folders that programs on PATH may enter. A program in `…/shims` or `…/bin` may enter the folder around it,
 * unless that is a home or larger.
 */
function installedIn({ searchPath = "", home, workspace }: RuntimeCheckOptions): string[] {
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

/** The same policy with the paths of one run. It belongs to the run, so no file of it is watched for changes. */
function forRun(policy: Policy, readable: ReadonlySet<string>, isClosed: (path: string) => boolean): Policy {
  return {
    name: policy.name,
    version: policy.version,
    subscription: policy.subscription,
    decide(event) {
      if (event.paths.some(({ path }) => isClosed(path))) return CLOSED;
      return readable.size > 0 && opensToRead(event) && readable.has(event.path!)
        ? undefined
        : policy.decide(event);
    },
    decideReturn: (event) => policy.decideReturn(event),
  };
}

const CLOSED: Verdict = { ...deny("HERMES keeps its own records here.", "ENOENT"), rule: "own-records" };

function opensToRead(event: CallEvent): boolean {
  if (!OPENING.includes(event.name) || event.path === undefined) return false;
  const bits = flagBits(syscallByName(event.name)!, event);
  return callEffects(event.nr).every(
    ({ does, holds }) => !does.includes("write") || holds?.(bits, event) === false,
  );
}

const EXEC = ["execve", "execveat"];
const OPENING = ["open", "openat", "openat2"];

type Judge = (event: CallEvent) => Verdict | undefined;

async function guardPolicy(options: RuntimeCheckOptions): Promise<Policy> {
  const { workspace, home, config, approved } = options;
  const guard = hostGuard({
    ...(config && (await optionsOf(config))),
    profile: "standard", // the approval of the command covers the stricter profile
    workspace,
    home,
  });
  const execs = new ExecJudge(guard, approved);
  const network = await NetworkJudge.of(options, machineNetwork);
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
      calls: new Map([...judges.keys()].map((nr) => [nr, subscriptionTo(nr)])),
      constants: sockets(options),
    },
    decide: (event) => judges.get(event.nr)?.(event),
    decideReturn: () => undefined,
  };
}

const STAY = "stay";

/** Whether a run may have this folder as its working directory. */
function isInside({ workspace, writable }: RuntimeCheckOptions, path: string): boolean {
  const folders = [workspace, "/tmp", "/var/tmp", tmpdir(), ...writable];
  return folders.some((folder) => path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`));
}

/** Checks the working directory at the first exec: since the guard judged the command, a link may have changed. */
function startsInside(options: RuntimeCheckOptions): Judge {
  let started = false;
  return ({ process: { cwd } }) => {
    if (started) return undefined;
    started = true;
    if (isInside(options, cwd)) return undefined;
    return {
      ...deny(`The run would start in ${cwd}, outside the workspace ${options.workspace}.`),
      rule: STAY,
    };
  };
}

/**
 * Holds the shell and its subshells, which have the same argv. Programs that they run have other words, and rules of
 * their own.
 */
function stays(options: RuntimeCheckOptions, shell: readonly string[]): Judge {
  const words = shell.join("\0");
  return (event) => {
    if (event.process.argv.join("\0") !== words) return undefined;
    if (isInside(options, event.path ?? event.fd?.target ?? "")) return undefined;
    return { ...deny(`The command's shell must stay in ${options.workspace}.`), rule: STAY };
  };
}

function subscriptionTo(nr: number): CallSubscription {
  const among = (names: readonly string[]) => names.some((name) => syscallByName(name)!.nr === nr);
  const actions: VerdictAction[] = among(EXEC)
    ? ["ask", "deny"]
    : among(OPENING)
      ? ["emulate", "modify"]
      : ["deny"];
  const when = among(CONNECTING) ? connectingCases(nr) : undefined;
  return {
    entry: true,
    returns: false,
    actions: new Set<VerdictAction>(["allow", ...actions]),
    ...(when && { when }),
  };
}

/** Every system call that chooses a peer. */
const CONNECTING = [
  ...new Set(
    CALL_EFFECTS.filter(({ does, on }) => does.includes("connect") && on.kind !== "socket-at").map(
      ({ call }) => call.name,
    ),
  ),
];

/** For calls that choose a peer only with certain options: the conditions on these options. */
function connectingCases(nr: number): CallSubscription["when"] {
  const cases = callEffects(nr).flatMap(({ does, when }) => (does.includes("connect") ? [when] : []));
  return cases.every((when) => when !== undefined) ? cases.flat() : undefined;
}

function judgeAddresses(event: CallEvent, network: NetworkJudge): Verdict | undefined {
  const bits = flagBits(syscallByName(event.name)!, event);
  for (const effect of callEffects(event.nr)) {
    if (!effect.does.includes("connect") || effect.holds?.(bits, event) === false) continue;
    for (const { address } of effectSubjects(effect, event)) {
      const verdict = network.judge(address, event);
      if (verdict) return verdict;
    }
  }
  return undefined;
}

const { AF_UNIX, AF_NETLINK } = flagTable("socket_family").values;

/** Without a network the seccomp filter itself refuses sockets: the program does not stop. */
function sockets({ network }: RuntimeCheckOptions): ConstantRule[] {
  if (network !== "none") return [];
  return [
    {
      id: "no-network",
      nr: syscallByName("socket")!.nr,
      tests: [AF_UNIX!, AF_NETLINK!].map((family) => ({
        arg: 0,
        width: 32,
        op: "ne",
        value: BigInt(family),
      })),
      action: "deny",
      errno: errnoNumber("EACCES")!,
      reason: "This run has no network.",
    },
  ];
}

/** Covers only what all runs of an agent share. Approvals of a single run are in that run's records. */
function versionOf({ workspace, home, network, config }: RuntimeCheckOptions): string {
  const all = JSON.stringify([PACKAGE_VERSION, workspace, home, network, config]);
  return createHash("sha256").update(all).digest("hex").slice(0, 12);
}
