import { dirname, join } from "node:path";
import {
  type Argument,
  parseFlags,
  type Syscall,
  signalNumber,
  suggest,
  syscallByName,
} from "../../abi/index.js";
import { signalValue } from "../../abi/named.js";
import { type Address, parseAddress } from "../../nouns/address.js";
import type { CallEvent, ProcessInfo, Receiver, ReceiverKind } from "../../nouns/event.js";
import { callEffects } from "../call-effects.js";
import { EFFECTS, type Effect, isEffect } from "../effects.js";
import { parseIp } from "../match/address.js";
import { flagsArgument } from "../match/flags.js";
import { PatternError } from "../match/glob.js";
import { parseSize } from "../match/quantity.js";
import { callSubjects, effectSubjects, flagBits } from "../match/subject.js";
import { MADE_UP_PROCESS, type MadeUpCall, madeUpEvent } from "./example-event.js";
import type { PolicyRule, RuleInput } from "./rule.js";
import { isAbout } from "./rule-target.js";
import type { Variables } from "./variables.js";

/** A call that has the effect, for examples that name only the effect. */
const REPRESENTATIVE: Readonly<
  Record<
    Effect,
    { readonly call: string; readonly flags?: string; readonly args?: Readonly<Record<string, bigint>> }
  >
> = {
  read: { call: "openat", flags: "O_RDONLY" },
  list: { call: "openat", flags: "O_RDONLY|O_DIRECTORY" },
  stat: { call: "newfstatat" },
  readlink: { call: "readlinkat" },
  getxattr: { call: "getxattr" },
  write: { call: "openat", flags: "O_WRONLY" },
  create: { call: "openat", flags: "O_WRONLY|O_CREAT" },
  mkdir: { call: "mkdirat" },
  mknod: { call: "mknodat" },
  delete: { call: "unlinkat" },
  rename: { call: "renameat2" },
  link: { call: "linkat" },
  symlink: { call: "symlinkat" },
  truncate: { call: "truncate" },
  chmod: { call: "fchmodat" },
  chown: { call: "fchownat" },
  touch: { call: "utimensat" },
  fsetattr: { call: "fchmod" },
  xattr: { call: "setxattr" },
  exec: { call: "execve" },
  load: { call: "mmap", args: { prot: 5n } },
  connect: { call: "connect" },
  send: { call: "sendto" },
  receive: { call: "recvfrom" },
  bind: { call: "bind" },
  accept: { call: "accept4" },
  alias: { call: "linkat" },
  mount: { call: "mount" },
  namespace: { call: "unshare", args: { unshare_flags: 0x1000_0000n } },
  fork: { call: "fork" },
  signal: { call: "kill", args: { sig: BigInt(signalValue("SIGTERM")) } },
  ptrace: { call: "ptrace" },
  limit: { call: "setpriority" },
  share: { call: "shmat" },
  setuid: { call: "setuid" },
  settime: { call: "clock_settime" },
  chdir: { call: "chdir" },
  monitor: { call: "inotify_add_watch" },
  read_data: { call: "read" },
  write_data: { call: "write" },
  sync: { call: "fsync" },
};

export type ExampleSpec = Readonly<Record<string, unknown>>;

const KEYS = [
  "call",
  "path",
  "to",
  "address",
  "argv",
  "env",
  "flags",
  "where",
  "user",
  "exe",
  "ancestor",
  "cwd",
  "program",
  "depth",
  "fd",
  "at",
  "stack",
  "own",
  "target",
  "signal",
  "family",
  "type",
] as const;

/** The event that an example describes: `{ read: ~/x }`, `{ connect: 10.0.0.1:80 }`, `{ exec: [git, push] }`, `{ call: openat, path: … }`. */
export function exampleEvent(spec: ExampleSpec, variables: Variables): CallEvent {
  // `signal` is an effect; beside a `call` it selects the signal.
  const effects = Object.keys(spec).filter(
    (key) => isEffect(key) && !(key === "signal" && spec.call),
  ) as Effect[];
  const stray = Object.keys(spec).find((key) => !isEffect(key) && !(KEYS as readonly string[]).includes(key));
  if (stray !== undefined) {
    const near = suggest(stray, [...Object.keys(EFFECTS), ...KEYS]);
    throw new PatternError(
      `unknown key \`${stray}\` in an example${near ? `: did you mean \`${near}\`?` : ""}`,
    );
  }
  if (effects.length + Number(spec.call !== undefined) !== 1)
    throw new PatternError(
      "an example names one effect, or a `call`: { read: /etc/passwd }, { call: openat, path: /x }",
    );
  const [effect] = effects;
  const representative = effect ? REPRESENTATIVE[effect] : undefined;
  const call = syscallByName(representative?.call ?? String(spec.call));
  if (!call) throw new PatternError(`unknown system call "${spec.call}" in an example`);
  return madeUpEvent({
    call,
    ...subjectOf(call.name, effect ? { ...spec, ...subjectKey(effect, spec[effect]) } : spec, variables),
    flags: flagsOf(call.name, spec.flags ?? representative?.flags),
    args: { ...representative?.args, ...scalars(call, spec.where), ...namedScalars(call, spec) },
    receivers: receiversOf(spec.target),
    process: processOf(spec, variables),
    ...(spec.at !== undefined && { time: timeOf(String(spec.at)) }),
    own: spec.own === true || spec.target === "own" || spec.target === "session",
    ...(spec.stack !== undefined && { stack: [spec.stack].flat().map(String) }),
  });
}

/** The key that an effect's value stands for. */
function subjectKey(effect: Effect, value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  const { on } = callEffects(syscallByName(REPRESENTATIVE[effect].call)!.nr).find(({ does }) =>
    does.includes(effect),
  )!;
  if (effect === "exec") return Array.isArray(value) ? { argv: value } : { path: value };
  if (on.kind === "address" || on.kind === "peer" || on.kind === "local") return { address: value };
  return on.kind === "nothing" || on.kind === "receivers" ? {} : { path: value };
}

function subjectOf(call: string, spec: ExampleSpec, variables: Variables): Omit<MadeUpCall, "call"> {
  const words = spec.argv === undefined ? undefined : [spec.argv].flat().map(String);
  const program = words?.[0];
  const named =
    spec.path ??
    (program === undefined ? undefined : program.includes("/") ? program : `/usr/bin/${program}`);
  const path = named === undefined ? undefined : variables.aFile(String(named));
  const to =
    spec.to === undefined ? path && join(dirname(path), ".example") : variables.aFile(String(spec.to));
  const address = spec.address === undefined ? undefined : addressOf(String(spec.address), variables);
  const isExec = call.startsWith("exec");
  return {
    ...(path !== undefined && { paths: call === "symlinkat" || call === "symlink" ? [path] : [path, to!] }),
    ...(path !== undefined && { targets: Object.fromEntries(FDS.map((name) => [name, path])) }),
    ...(spec.fd !== undefined && { targets: Object.fromEntries(FDS.map((name) => [name, String(spec.fd)])) }),
    ...(address &&
      (call === "accept4" || call === "listen"
        ? { local: address }
        : call === "recvfrom"
          ? { peer: address }
          : { address })),
    ...(isExec && { argv: words ?? [path ?? "example"], env: environment(spec.env) }),
  };
}

const FDS = ["fd", "in_fd", "out_fd", "fd_in", "fd_out", "fildes"];

function addressOf(text: string, variables: Variables): Address {
  const value =
    text.startsWith("unix:") && !text.startsWith("unix:@") ? `unix:${variables.aFile(text.slice(5))}` : text;
  const parsed =
    parseAddress(value) ??
    parseAddress(value.includes(":") && !value.startsWith("[") ? `[${value}]:1` : `${value}:1`);
  if (!parsed || ("host" in parsed && !parseIp(parsed.host)))
    throw new PatternError(`"${text}" is not an address: an example has one, such as 10.0.0.1:80`);
  return parsed;
}

function environment(env: unknown): string[] {
  if (env === undefined) return [];
  if (Array.isArray(env)) return env.map((name) => `${name}=1`);
  if (typeof env === "string") return [env.includes("=") ? env : `${env}=1`];
  return Object.entries(env as Record<string, unknown>).map(([name, value]) => `${name}=${value}`);
}

function flagsOf(name: string, flags: unknown): number {
  if (flags === undefined) return 0;
  const found = flagsArgument(syscallByName(name)!);
  const text = [flags].flat().join("|");
  if (!found) throw new PatternError(`${name} has no flags`);
  try {
    return parseFlags(found.table, text);
  } catch (cause) {
    throw new PatternError((cause as Error).message);
  }
}

function scalars({ args }: Syscall, where: unknown): Record<string, bigint | string> {
  return Object.fromEntries(
    Object.entries((where as Record<string, unknown> | undefined) ?? {}).map(([name, value]) => [
      name,
      parseSize(String(value)) ??
        meaningOf(
          args.find((argument) => argument.name === name),
          [value].flat().join("|"),
        ),
    ]),
  );
}

/** The meaning of a name in an example: a flag, a signal, else a text. */
function meaningOf(argument: Argument | undefined, text: string): bigint | string {
  if (argument?.kind === "signal") return BigInt(signalNumber(text) ?? 0);
  if (argument?.flags === undefined) return text;
  try {
    return BigInt(parseFlags(argument.flags, text));
  } catch (cause) {
    throw new PatternError((cause as Error).message);
  }
}

const PREFIXES: Readonly<Record<string, string>> = { family: "AF_", type: "SOCK_" };

/** `signal`, and the family and type of a socket: `inet` is AF_INET. */
function namedScalars({ args }: Syscall, spec: ExampleSpec): Record<string, bigint | string> {
  const values: Record<string, bigint | string> = {};
  for (const argument of args) {
    const key = argument.kind === "signal" ? "signal" : argument.name;
    const prefix = PREFIXES[key];
    if ((prefix === undefined && key !== "signal") || spec[key] === undefined || spec[key] === null) continue;
    const text = [spec[key]].flat().join("|");
    values[argument.name] = meaningOf(
      argument,
      prefix && !text.toUpperCase().startsWith(prefix) ? prefix + text : text,
    );
  }
  return values;
}

function receiversOf(target: unknown): Receiver[] {
  return [target ?? []].flat().map((kind) => ({
    pid: undefined,
    is: (kind === "own" ? ["own", "session"] : [kind]) as ReceiverKind[],
  }));
}

function processOf(spec: ExampleSpec, variables: Variables): Partial<ProcessInfo> {
  const file = (value: unknown) => variables.aFile(String(value));
  return {
    ...(spec.user !== undefined && { uid: spec.user === "root" ? 0 : Number(spec.user) }),
    ...(spec.exe !== undefined && { exe: file(spec.exe) }),
    ...(spec.cwd !== undefined && { cwd: file(spec.cwd) }),
    ...(spec.program !== undefined && { program: file(spec.program) }),
    ...(spec.depth !== undefined && { depth: Number(spec.depth) }),
    ...(spec.ancestor !== undefined && { parent: { ...MADE_UP_PROCESS, exe: file(spec.ancestor) } }),
  };
}

function timeOf(text: string): number {
  const seconds = Date.parse(text) / 1000;
  if (Number.isNaN(seconds)) throw new PatternError(`"${text}" is not a time: write 2026-01-31T09:30`);
  return seconds;
}

/**
 * Undefined when the rule matches the event, else the first reason why not. Ignores how often a rule applies
 * (rate, when), and its `time` unless the example has one.
 */
export function whyNotExample(rule: PolicyRule, event: CallEvent, hasTime: boolean): string | undefined {
  let reason: string | undefined;
  for (const input of ruleInputsFor(rule, event)) {
    const failing = rule.conditions.find((c) => !(c.key === "time" && !hasTime) && !c.holds(input));
    if (!failing) return undefined;
    reason ??= `${failing.key}: ${failing.tell(input)}`;
  }
  return reason ?? `it is about ${rule.target.names.join(", ")}`;
}

function ruleInputsFor(rule: PolicyRule, event: CallEvent): RuleInput[] {
  const call = syscallByName(event.name);
  const bits = flagBits(call, event);
  const active = callEffects(event.nr).filter((effect) => !effect.holds || effect.holds(bits, event));
  const subjects = active
    .filter((effect) => isAbout(rule.target, effect) && rule.fits(call))
    .flatMap((effect) => effectSubjects(effect, event));
  const whole = active.length === 0 && rule.target.calls.has(event.nr) ? callSubjects(event) : [];
  return [...subjects, ...whole].map((subject) => ({ event, call, bits, subject }));
}
