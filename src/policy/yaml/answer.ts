import { errnoNames, errnoNumber, type Syscall, signalNumber, suggest } from "../../abi/index.js";
import { parseAddress } from "../../nouns/address.js";
import { utsname } from "../../nouns/structs.js";
import type { CallChange, Emulation, Fault, Verdict } from "../../nouns/verdict.js";
import { PatternError } from "../match/glob.js";
import { parseDuration, parseSize } from "../match/quantity.js";
import type { ActionKey } from "./action.js";
import type { RuleInput } from "./rule.js";
import type { RuleSpec } from "./schema.js";
import type { Variables } from "./variables.js";

/** The keys for a rule's answer, and the actions that accept them. */
const KEYS_OF: Readonly<Record<ActionKey, readonly (keyof RuleSpec)[]>> = {
  allow: [],
  deny: ["errno"],
  kill: [],
  ask: [],
  watch: [],
  redirect: ["to"],
  modify: ["args", "data"],
  emulate: ["result", "data", "content"],
  fault: ["errno", "delay", "signal", "short"],
};
const ANSWER_KEYS = [...new Set(Object.values(KEYS_OF).flat())];

/** With other actions, `signal` selects the signals. */
const CONDITIONS_TOO: ReadonlySet<keyof RuleSpec> = new Set(["signal"]);

interface RuleAnswer {
  readonly answer: (input: RuleInput) => Verdict;
  readonly fits: (call: Syscall) => boolean;
}

// Shared, so that rules for the same calls can be recognized by their function.
const ANY = () => true;
const carriesAddress = ({ args }: Syscall) =>
  args.some(({ kind }) => kind === "sockaddr" || kind === "msghdr" || kind === "mmsghdr");
const hasOnePath = ({ args }: Syscall) => args.filter(({ kind }) => kind === "path").length === 1;
const opensPath = ({ classes, args }: Syscall) =>
  classes.includes("open") && !classes.includes("mount") && args.some(({ kind }) => kind === "path");
const givesData = ({ args }: Syscall) =>
  args.some(({ direction }) => direction === "out" || direction === "inout");

/** Thrown with the key that is wrong. */
export class AnswerError extends PatternError {
  readonly key: keyof RuleSpec;

  constructor(key: keyof RuleSpec, message: string) {
    super(message);
    this.key = key;
  }
}

export function compileAnswer(key: ActionKey, spec: RuleSpec, variables: Variables): RuleAnswer {
  const stray = ANSWER_KEYS.find(
    (name) => spec[name] !== undefined && !KEYS_OF[key].includes(name) && !CONDITIONS_TOO.has(name),
  );
  if (stray) throw new AnswerError(stray, `\`${stray}\` does not go with \`${key}\`${takenBy(stray)}`);
  const base = { rule: spec.id, ...(spec.reason !== undefined && { reason: spec.reason }) };
  const constant = (verdict: Verdict): RuleAnswer => ({ answer: () => verdict, fits: ANY });
  switch (key) {
    case "allow":
      return constant({ action: "allow", ...base });
    case "watch":
      return constant({ action: "allow", watched: true, ...base });
    case "kill":
      return constant({ action: "kill", ...base });
    case "ask":
      if (spec.reason === undefined)
        throw new AnswerError("ask", "`ask` needs a `reason`: the approver sees it");
      return constant({ action: "ask", ...base });
    case "deny":
      return constant({ action: "deny", errno: checkedErrno(spec.errno ?? "EACCES"), ...base });
    case "fault":
      return faultAnswer(spec, base);
    case "redirect":
      return redirectAnswer(spec, base, variables);
    case "modify":
      return modifyAnswer(spec, base);
    case "emulate":
      return emulateAnswer(spec, base);
  }
}

type Base = Pick<Verdict, "rule" | "reason">;

function takenBy(key: keyof RuleSpec): string {
  const actions = Object.entries(KEYS_OF).filter(([, keys]) => keys.includes(key));
  return ` (it goes with ${actions.map(([action]) => action).join(", ")})`;
}

export function checkedErrno(errno: string | number | boolean): string {
  const text = String(errno);
  if (errnoNumber(text) !== undefined) return text;
  const near = suggest(text, errnoNames());
  throw new AnswerError("errno", `unknown error "${text}"${near ? `: did you mean ${near}?` : ""}`);
}

// ---------------------------------------------------------------- fault

function faultAnswer(spec: RuleSpec, base: Base): RuleAnswer {
  const { errno, delay, signal, short } = spec;
  if ([errno, delay, signal, short].every((value) => value === undefined))
    throw new AnswerError(
      "fault",
      "`fault` needs errno, delay, signal or short: otherwise nothing goes wrong",
    );
  const fault: Fault = {
    ...(errno !== undefined && { errno: checkedErrno(errno) }),
    ...(delay !== undefined && { delay: within("delay", () => parseDuration(String(delay))) }),
    ...(signal !== undefined && { signal: checkedSignal(String(signal)) }),
    ...(short !== undefined && { short: sizeOf("short", short) }),
  };
  const verdict: Verdict = { action: "fault", fault, ...base };
  return { answer: () => verdict, fits: short === undefined ? ANY : isCounted };
}

export function checkedSignal(signal: string): string {
  const number = /^\d+$/.test(signal) ? Number(signal) : signalNumber(signal);
  if (number === undefined || number < 1 || number > 64)
    throw new AnswerError("signal", `unknown signal "${signal}"`);
  return /^\d+$/.test(signal) ? String(number) : signal;
}

function sizeOf(key: keyof RuleSpec, value: string | number): number {
  const size = parseSize(String(value));
  if (size === undefined || size < 0n)
    throw new AnswerError(key, `"${value}" is not a size: write 512 or 4KB`);
  return Number(size);
}

function within<T>(key: keyof RuleSpec, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof PatternError ? new AnswerError(key, error.message) : error;
  }
}

/** Calls with a register that limits the transfer. */
function isCounted({ args }: Syscall): boolean {
  return args.some((a) => a.kind === "buffer" && a.length !== undefined && !a.lengthIsPointer);
}

// ---------------------------------------------------------------- redirect

const TREE = "/**";

function redirectAnswer(spec: RuleSpec, base: Base, variables: Variables): RuleAnswer {
  const { to } = spec;
  if (to === undefined) throw new AnswerError("redirect", "`redirect` needs `to`: a path or an address");
  const address = parseAddress(to);
  if (address) {
    const verdict: Verdict = { action: "modify", change: { to: address }, ...base };
    return { answer: () => verdict, fits: carriesAddress };
  }
  const isTree = to.endsWith(TREE);
  const path = within("to", () => variables.file(isTree ? to.slice(0, -TREE.length) : to));
  const change = (target: string): Verdict => ({ action: "modify", change: { to: target }, ...base });
  // For a call with two paths, the first would be replaced, even if the rule matched the second.
  const fits = hasOnePath;
  const verdict = change(path);
  if (!isTree) return { answer: () => verdict, fits };
  const from = treeRoots(spec, variables);
  return {
    fits,
    answer: ({ subject }) => {
      const root = from.find((folder) => subject.path === folder || subject.path?.startsWith(`${folder}/`));
      return change(path + (subject.path ?? "").slice(root?.length ?? 0));
    },
  };
}

function treeRoots(spec: RuleSpec, variables: Variables): string[] {
  const patterns = [spec.path ?? []].flat().map(String);
  if (
    patterns.length === 0 ||
    !patterns.every(
      (pattern) =>
        pattern.endsWith(TREE) && !/[*?[{]/.test(pattern.slice(0, -TREE.length).replaceAll("${", "")),
    )
  )
    throw new AnswerError(
      "to",
      "a `to` that ends in /** needs a `path` that ends in /** and has no other wildcards",
    );
  return patterns.flatMap((pattern) => variables.paths(pattern.slice(0, -TREE.length), false));
}

// ---------------------------------------------------------------- modify, emulate

function modifyAnswer(spec: RuleSpec, base: Base): RuleAnswer {
  const { args, data } = spec;
  if (args === undefined && data === undefined)
    throw new AnswerError("modify", "`modify` needs `args` or `data`: otherwise it changes nothing");
  const change: CallChange = {
    ...(args !== undefined && {
      args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, argumentValue(value)])),
    }),
    ...(data !== undefined && { data: bytesOf(data) }),
  };
  const verdict: Verdict = { action: "modify", change, ...base };
  const hasArguments = (call: Syscall) =>
    Object.keys(args ?? {}).every((name) => call.args.some((argument) => argument.name === name));
  return {
    answer: () => verdict,
    fits: (call) => hasArguments(call) && (data === undefined || putsData(call)),
  };
}

export function argumentValue(value: string | number | boolean): bigint | string {
  const number = parseSize(String(value));
  return number ?? String(value);
}

function putsData({ args }: Syscall): boolean {
  const kinds = ["buffer", "iovec", "msghdr", "mmsghdr"];
  return args.some(({ kind, direction = "in" }) => kinds.includes(kind) && direction !== "out");
}

function emulateAnswer(spec: RuleSpec, base: Base): RuleAnswer {
  const { result, data, content } = spec;
  if (result === undefined && data === undefined && content === undefined)
    throw new AnswerError("emulate", "`emulate` needs `result`, `data` or `content`");
  if (content !== undefined && (result !== undefined || data !== undefined))
    throw new AnswerError(
      "content",
      "`content` cannot be combined with `result` or `data`: the program gets a file, not a result",
    );
  const number = result === undefined ? 0n : parseSize(String(result));
  if (number === undefined) throw new AnswerError("result", `"${result}" is not a whole number`);
  const emulation: Emulation = {
    result: number,
    ...(content !== undefined && { content }),
    ...(data !== undefined && { data: bytesOf(data) }),
  };
  const verdict: Verdict = { action: "emulate", emulation, ...base };
  return {
    answer: () => verdict,
    fits: content !== undefined ? opensPath : data !== undefined ? givesData : ANY,
  };
}

const UTSNAME = ["sysname", "nodename", "release", "version", "machine", "domainname"];

export function bytesOf(data: NonNullable<RuleSpec["data"]>): string | Uint8Array {
  if (typeof data === "string") return data;
  const entries = Object.entries(data);
  const [first] = entries;
  if (entries.length === 1 && first![0] === "base64") return decoded(String(first![1]), "base64");
  if (entries.length === 1 && first![0] === "hex") return decoded(String(first![1]), "hex");
  const stray = entries.find(([name]) => !UTSNAME.includes(name));
  if (stray) {
    const near = suggest(stray[0], ["base64", "hex", ...UTSNAME]);
    throw new AnswerError(
      "data",
      `unknown key \`${stray[0]}\` in data${near ? `: did you mean \`${near}\`?` : ""}`,
    );
  }
  if (entries.length === 0) throw new AnswerError("data", "`data` is empty");
  return utsname(Object.fromEntries(entries.map(([name, value]) => [name, String(value)])));
}

function decoded(text: string, encoding: "base64" | "hex"): Uint8Array {
  const bytes = Buffer.from(text, encoding);
  const back = bytes.toString(encoding).replace(/=+$/, "");
  if (back.toLowerCase() !== text.replace(/=+$/, "").toLowerCase())
    throw new AnswerError("data", `this is not ${encoding}`);
  return bytes;
}
