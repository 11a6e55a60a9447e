import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { root } from "../support/root.js";
import { ofArena } from "./attacks.js";
import { NAMED_BY_SUPERVISOR } from "./known.js";
import { type DoorName, type Fence, optionsOf, run } from "./systems.js";

/**
 * Who makes the program's calls? strace is attached to the supervisor alone, all its threads and what it starts, while a
 * program (named.c) names paths, addresses and a process that cannot be guessed. Every system call of the supervisor in
 * which one of them turns up is listed. The program is not traced: the launcher started it before strace came.
 */

/** Named in an argument, or what a descriptor in an argument is open on. */
export type How = "name" | "descriptor";

export interface NamedCall {
  readonly call: string;
  readonly what: "path" | "address" | "process";
  readonly how: How;
  readonly line: string;
}

export interface Setting {
  readonly door: DoorName;
  readonly fence: Fence;
  readonly user: "root" | "ordinary";
}

interface Names {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly pid: number;
}

/** What only carries bytes, or only waits: the program's memory, as it was read, is no name that the supervisor uses. */
const NOT_WATCHED =
  "read,readv,pread64,preadv,write,writev,pwrite64,futex,ioctl,poll,ppoll,epoll_wait,epoll_pwait,recvmsg,recvfrom,mprotect,mmap,munmap,madvise,brk";
const BYTES = /^process_vm_(read|write)v$/;
const ANSWERS = /^(getcwd|getsockname|getpeername|accept4?)$/;

/** Every call of the supervisor that carries what the program named; or, without one (bare), of the program itself. */
export async function supervisorCalls({ door, fence, user }: Setting, isBare = false): Promise<NamedCall[]> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-named-"));
  const ordinary = user === "ordinary" ? new OrdinaryUser() : undefined;
  const who = user === "ordinary" ? { uid: NOBODY, gid: NOBODY } : { uid: 0, gid: 0 };
  const stranger = spawn("sleep", ["600"], { cwd: "/", stdio: ["pipe", "ignore", "ignore"], ...who });
  try {
    const names: Names = {
      name: `named-${randomBytes(8).toString("hex")}`,
      address: `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`,
      port: randomInt(20_000, 60_000),
      pid: stranger.pid!,
    };
    for (const name of ["", ".azure", "folder", "papers"]) {
      if (name) mkdirSync(join(folder, name));
      chownSync(join(folder, name), who.uid, who.gid);
    }
    const program = join(folder, "folder/program");
    copyFileSync(ofArena("named"), program);
    const options = ["-p", "agent", "--ask", "no", ...optionsOf(door, fence), "--keep-env", "N_*"];
    const [file, ...words] = isBare ? [program] : run(ordinary?.folder ?? root, options, [program]);
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      A_PORT: String(names.port),
      N_NAME: names.name,
      N_ADDRESS: names.address,
      N_PID: String(names.pid),
    };
    const child = spawn(file!, words, {
      cwd: join(folder, "folder"),
      env,
      stdio: ["pipe", "pipe", "pipe"],
      ...who,
    });
    return parse(await straced(child, join(folder, "calls")), names);
  } finally {
    stranger.kill("SIGKILL");
    ordinary?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What strace wrote of the supervisor from when the program was ready to its end. */
async function straced(supervisor: ChildProcess, file: string): Promise<string> {
  let stderr = "";
  supervisor.stderr!.on("data", (bytes) => (stderr += bytes));
  const ended = once(supervisor, "close");
  const said: string[] = [];
  const output = createInterface({ input: supervisor.stdout! }).on("line", (line) => said.push(line));
  await Promise.race([once(output, "line"), ended]);
  if (said[0] !== "READY") throw new Error(`the program did not start: ${stderr}`);
  const words = [
    "-f",
    "-y",
    "-s",
    "4096",
    "-e",
    `trace=!${NOT_WATCHED}`,
    "-o",
    file,
    "-p",
    String(supervisor.pid),
  ];
  const strace = spawn("strace", words, { stdio: ["ignore", "ignore", "pipe"] });
  const gone = once(strace, "close");
  const lines = createInterface({ input: strace.stderr! });
  for await (const line of lines) if (/attached/.test(line)) break;
  supervisor.stdin!.end("x");
  await ended;
  await gone;
  if (/^\d+ +\w+\(/m.exec(readFileSync(file, "latin1")) === null)
    throw new Error("strace saw no call of the supervisor");
  if (!said.includes("DONE")) throw new Error(`the program did not come to its end: ${stderr}`);
  return readFileSync(file, "latin1");
}

/** The calls of each thread, put together where another thread's came between. */
function* calls(text: string): Generator<[call: string, args: string]> {
  const begun = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (!thread) continue;
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(rest!)?.[1];
    if (unfinished !== undefined) {
      begun.set(thread, unfinished);
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest!)?.[1];
    const whole = resumed === undefined ? rest! : `${begun.get(thread) ?? ""}${resumed}`;
    const found = /^(\w+)\((.*)$/.exec(whole);
    if (found) yield [found[1]!, found[2]!];
  }
}

export function parse(text: string, names: Names): NamedCall[] {
  const all: NamedCall[] = [];
  for (const [call, args] of calls(text)) {
    const line = `${call}(${args}`;
    // 7</a/file>: what a descriptor is open on.
    const given = withoutAnswer(call, args).replace(/(\d|AT_FDCWD)<[^>]*>/g, "$1");
    const named = whatOf(call, given, names);
    if (named) all.push({ call, what: named, how: "name", line });
    else {
      const open = whatOf(call, withoutAnswer(call, args), names);
      if (open) all.push({ call, what: open, how: "descriptor", line });
    }
  }
  return all;
}

/** What the kernel answers is nothing that the supervisor named; nor are bytes of a message, such as those to the broker. */
function withoutAnswer(call: string, args: string): string {
  const before = args.replace(/ = [^=]*$/, "");
  if (call === "sendmsg") return before.replace(/msg_iov=\[.*\], msg_iovlen=/s, "msg_iovlen=");
  if (/^readlink(at)?$/.test(call)) return /^[^"]*"(?:[^"\\]|\\.)*"/.exec(before)?.[0] ?? before;
  return ANSWERS.test(call) ? before.replace(/,.*$/, "") : before;
}

function whatOf(
  call: string,
  args: string,
  { name, address, port, pid }: Names,
): NamedCall["what"] | undefined {
  if (BYTES.test(call)) return new RegExp(`^${pid}\\b`).test(args) ? "process" : undefined;
  if (new RegExp(`/proc/${pid}\\b`).test(args)) return "process";
  if (TAKES_PROCESS.test(call) && new RegExp(`(^|[ ,])${pid}([ ,)<]|$)`).test(args)) return "process";
  if (args.includes(`htons(${port})`) || args.includes(address)) return "address";
  if (args.includes(name)) return /^(connect|bind|send)/.test(call) ? "address" : "path";
  return undefined;
}

const TAKES_PROCESS =
  /^(kill|tkill|tgkill|pidfd_open|process_vm_readv|process_vm_writev|ptrace|prlimit64|[gs]etpriority|sched_\w+|getpgid|setpgid|getsid|kcmp|rt_\w*sigqueueinfo|migrate_pages|move_pages|wait4|waitid|ioprio_[gs]et)$/;

/** "openat: path by name": how often. */
export function counted(all: readonly NamedCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { call, what, how } of all) {
    const kind = `${call}: ${what} by ${how}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Kinds of which there are more than known.ts says. */
export const unknown = (all: readonly NamedCall[]): [kind: string, count: number][] =>
  Object.entries(counted(all)).filter(([kind, count]) => count > (NAMED_BY_SUPERVISOR[kind] ?? 0));

export const SETTINGS: readonly Setting[] = (["root", "ordinary"] as const).flatMap((user) =>
  (["notify", "trace"] as const).flatMap((door) =>
    (["none", "strict"] as const).map((fence): Setting => ({ door, fence, user })),
  ),
);

/** npm run attacks -- --strace */
export async function showSupervisorCalls(isVerbose: boolean, isJson: boolean): Promise<boolean> {
  let isKnown = true;
  for (const setting of SETTINGS) {
    const all = await supervisorCalls(setting);
    if (unknown(all).length > 0) isKnown = false;
    const title = `-p agent, ${setting.door} door, fence ${setting.fence}, as ${setting.user}`;
    if (isJson) process.stdout.write(`${JSON.stringify({ ...setting, calls: all })}\n`);
    else {
      const known = unknown(all).length > 0 ? ", more than known" : "";
      process.stdout.write(
        `\n${title}: ${all.length} calls of the supervisor on what the program named${known}\n`,
      );
      for (const [kind, count] of Object.entries(counted(all)))
        process.stdout.write(`  ${String(count).padStart(5)}  ${kind}\n`);
      if (isVerbose) for (const { line } of all) process.stdout.write(`         ${line}\n`);
    }
  }
  return isKnown;
}
