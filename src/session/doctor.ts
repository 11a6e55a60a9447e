import { readFileSync } from "node:fs";
import { release } from "node:os";
import { native, PROBE } from "../kernel/binding/native.js";
import { counted } from "../nouns/counted.js";
import { HermesError } from "../nouns/errors.js";
import { PROTECTIONS } from "../nouns/protection.js";

/** One capability that this machine has or lacks. */
export interface DoctorCheck {
  readonly name: string;
  readonly state: "yes" | "no" | "partly";
  readonly finding: string;
  /** HERMES cannot mediate without it. */
  readonly required: boolean;
}

/** Queries the kernel. Where a query proves nothing, runs a real program. */
export async function examine(): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = [kernelCheck()];
  const addon = addonCheck();
  checks.push(addon);
  if (addon.state === "no") return checks;
  const bits = native().probe();
  checks.push(await doorCheck("notify", (bits & PROBE.notify) !== 0 && (bits & PROBE.notifySizes) !== 0));
  checks.push(await doorCheck("trace", (bits & PROBE.trace) !== 0));
  checks.push(yamaCheck(), privilegeCheck());
  if (checks.some((check) => check.required && check.state === "no")) return checks;
  checks.push(...(await fenceChecks(bits >> PROBE.landlockShift)), await cgroupCheck());
  return checks;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** What each kernel version added to the notify door, and what fails before it. */
const SINCE: readonly [version: number, lost: string][] = [
  [5.05, "the notify door cannot let calls through"],
  [5.14, "no descriptors can be handed to programs, so policies on files and connections do not work"],
  [5.19, "signals may interrupt calls that wait for a decision"],
  [6.06, "decisions wake the supervisor more slowly"],
];

function kernelCheck(): DoctorCheck {
  const text = release();
  const [major, minor] = text.split(".").map(Number);
  const version = major! + minor! / 100;
  const lost = SINCE.filter(([since]) => version < since).map(([, what]) => what);
  const state = version < SINCE[0]![0] ? "no" : lost.length > 0 ? "partly" : "yes";
  const finding = `Linux ${text} on ${process.arch}${lost.length > 0 ? `: ${lost.join("; ")}` : ""}`;
  return { name: "kernel", state: process.platform === "linux" ? state : "no", finding, required: true };
}

function addonCheck(): DoctorCheck {
  try {
    native();
    return { name: "native part", state: "yes", finding: "built and loaded", required: true };
  } catch (error) {
    return { name: "native part", state: "no", finding: (error as HermesError).message, required: true };
  }
}

/** A door works only if a program has come through it: run one. */
async function doorCheck(door: "notify" | "trace", offered: boolean): Promise<DoctorCheck> {
  const name = `${door} door`;
  if (!offered)
    return { name, state: "no", finding: "the kernel does not offer it", required: door === "notify" };
  try {
    const decided = await tryDoor(door);
    return {
      name,
      state: "yes",
      finding: `works: ${counted(decided, "call")} of a test program decided`,
      required: door === "notify",
    };
  } catch (error) {
    const finding = error instanceof HermesError ? error.message : String(error);
    return { name, state: "no", finding, required: door === "notify" };
  }
}

async function tryDoor(door: "notify" | "trace"): Promise<number> {
  const [{ run }, { definePolicy }] = await Promise.all([import("./run.js"), import("../policy/define.js")]);
  const policy = definePolicy({ name: "doctor", actions: ["deny"], on: { "*"() {} } });
  const result = await run({ command: ["/bin/true"], policy, door });
  if (result.exitCode !== 0) throw new Error(`/bin/true ended with ${result.exitCode}`);
  return result.summary.calls;
}

function yamaCheck(): DoctorCheck {
  const scope = read("/proc/sys/kernel/yama/ptrace_scope");
  const meaning: Record<string, [DoctorCheck["state"], string]> = {
    "0": ["yes", "ptrace of own processes is allowed"],
    "1": ["yes", "ptrace of descendants only: enough to run programs, not to attach to running ones"],
    "2": ["partly", "only administrators may use ptrace"],
    "3": ["no", "ptrace is off until the next boot"],
  };
  const [state, finding] =
    scope === undefined
      ? (["yes", "no Yama: ptrace of own processes is allowed"] as const)
      : (meaning[scope] ?? ["partly", `unknown value ${scope}`]);
  return { name: "ptrace scope", state, finding, required: false };
}

/** What each Landlock ABI version added that a fence uses. */
const LANDLOCK_SINCE: readonly [version: number, lost: string][] = [
  [2, "moving files between folders is refused where writing is restricted"],
  [3, "truncating files is not restricted"],
  [4, "TCP ports cannot be restricted"],
  [5, "device control is not restricted"],
  [6, "signals and abstract sockets are not restricted"],
];

function landlockFinding(version: number): Pick<DoctorCheck, "state" | "finding"> {
  const lost = LANDLOCK_SINCE.filter(([since]) => version < since).map(([, what]) => what);
  if (lost.length === 0) return { state: "yes", finding: `version ${version}: files, TCP ports, signals` };
  return { state: "partly", finding: `version ${version}: ${lost.join("; ")}` };
}

/** A fence works only if a program ran behind it: run one. */
async function fenceChecks(landlock: number): Promise<DoctorCheck[]> {
  const { run } = await import("./run.js");
  // In the root directory, because the folder where doctor is asked may be no workspace.
  const { protections } = await run({ command: ["/bin/true"], fence: "strict", cwd: "/" });
  const why = new Map(protections.missing.map((missing) => [missing.name, missing.why]));
  return PROTECTIONS.filter((protection) => "from" in protection).map(({ name, what }) => ({
    name: name.replaceAll("_", " "),
    required: false,
    ...(why.has(name)
      ? { state: "no" as const, finding: why.get(name)! }
      : name === "landlock"
        ? landlockFinding(landlock)
        : { state: "yes" as const, finding: what }),
  }));
}

async function cgroupCheck(): Promise<DoctorCheck> {
  const { Cgroups } = await import("../kernel/fence/cgroup.js");
  const findings = (["memory", "processes", "cpus"] as const).map((limit) => {
    try {
      new Cgroups({ [limit]: 1 }, `${process.pid}-doctor`).remove();
      return { limit, why: undefined };
    } catch (error) {
      return { limit, why: (error as Error).message.replace(/^.*not available here: /, "") };
    }
  });
  const can = findings.filter(({ why }) => why === undefined).map(({ limit }) => limit);
  const why = findings.find((finding) => finding.why !== undefined)?.why;
  return {
    name: "cgroup limits",
    state: why === undefined ? "yes" : can.length > 0 ? "partly" : "no",
    finding: [...(can.length > 0 ? [can.join(", ")] : []), ...(why === undefined ? [] : [why])].join("; "),
    required: false,
  };
}

function privilegeCheck(): DoctorCheck {
  const root = process.getuid?.() === 0;
  const finding = root
    ? "running as root: programs run as root too, unless they drop it"
    : "running unprivileged: set-user-id programs lose their privilege inside (no_new_privs)";
  return { name: "privileges", state: "yes", finding, required: false };
}
