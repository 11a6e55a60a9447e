import type { CodePattern, InstructionText } from "../binary/code/pattern.js";
import { compileWord } from "./match/glob.js";

/**
 * Selects instructions: `instruction:what`, or `instruction:module!what`.
 *
 * | written | means |
 * |---|---|
 * | `instruction:rdtsc`, `instruction:rdtscp` | reading the time stamp counter, in any code |
 * | `instruction:cpuid`, `instruction:syscall`, `instruction:int 0x80`, `instruction:rep movsb` | an instruction in Intel syntax |
 * | `instruction:mov rax, *; syscall` | several consecutive instructions; `*` matches anything |
 * | `instruction:/0f 05/`, `instruction:/48 8b ?? 90/` | bytes at the start of an instruction |
 * | `instruction:libc!syscall`, `instruction:app!cpuid` | only in that module |
 */
export interface InstructionPattern {
  /** As written, without `instruction:` and the module. */
  readonly name: string;
  readonly module?: string;
  /** How to find it in code; faulting ones (rdtsc, rdtscp) need no search. */
  readonly code?: CodePattern;
}

const KEY = "instruction:";
/** The kernel can make these fault. */
export const FAULTING: ReadonlySet<string> = new Set(["rdtsc", "rdtscp"]);
/** True when a policy watches reads of the time stamp counter. */
export function trapsCounter({
  instructions = [],
}: {
  instructions?: readonly InstructionPattern[];
}): boolean {
  return instructions.some(({ name }) => FAULTING.has(name));
}

const PREFIXES: ReadonlySet<string> = new Set(["rep", "repe", "repz", "repne", "repnz", "lock"]);
const MAX_STEPS = 16;
const MAX_BYTES = 256;

/** True when a key of a policy names instructions. */
export function namesInstruction(key: string): boolean {
  return key.startsWith(KEY);
}

/** Throws an Error that says what is wrong. */
export function parseInstructionPattern(key: string): InstructionPattern {
  const text = key.slice(KEY.length).trim();
  const at = text.startsWith("/") ? -1 : text.indexOf("!");
  const module = at < 0 ? undefined : text.slice(0, at).trim();
  const name = text.slice(at + 1).trim();
  if (name === "" || module === "")
    throw new Error(
      `"${key}" names no instruction: write instruction:rdtsc, instruction:cpuid, instruction:/0f 05/`,
    );
  if (module !== undefined) compileWord(module);
  if (FAULTING.has(name)) {
    if (module !== undefined)
      throw new Error(`"${key}": ${name} is seen in all code, not in a single module: leave the module out`);
    return { name };
  }
  return { name, code: codeOf(key, name), ...(module !== undefined && { module }) };
}

function codeOf(key: string, name: string): CodePattern {
  if (name.startsWith("/")) return { by: "bytes", bytes: bytesOf(key, name) };
  const steps = name.split(";").map((step) => textOf(key, step));
  if (steps.length > MAX_STEPS) throw new Error(`"${key}": at most ${MAX_STEPS} consecutive instructions`);
  return { by: "text", steps };
}

function textOf(key: string, written: string): InstructionText {
  const glob = written.trim().toLowerCase().replace(/\s+/g, " ").replace(/ ?, ?/g, ", ");
  const mnemonic = glob.split(" ").find((word) => !PREFIXES.has(word)) ?? "";
  if (!/^[a-z][a-z0-9]*$/.test(mnemonic))
    throw new Error(
      `"${key}": "${written.trim()}" is not an instruction: use Intel syntax, such as mov rax, *`,
    );
  return { mnemonic, glob };
}

function bytesOf(key: string, name: string): (number | undefined)[] {
  const words = /^\/(.*)\/$/.exec(name)?.[1]?.trim().split(/\s+/) ?? [];
  const right = words.length > 0 && words.every((word) => /^([0-9a-f]{2}|\?\?)$/i.test(word));
  if (!right || words.length > MAX_BYTES || words[0] === "??")
    throw new Error(
      `"${key}": bytes are written as /0f 05 ?? c3/, at most ${MAX_BYTES}, and the first cannot be ??`,
    );
  return words.map((word) => (word === "??" ? undefined : Number.parseInt(word, 16)));
}
