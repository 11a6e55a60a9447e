import type { CodePattern, InstructionText } from "../code/pattern.js";
import { compileWord } from "./match/glob.js";

/**
 * Which instructions a policy means: `instruction:what`, or `instruction:module!what`.
 *
 * | written | means |
 * |---|---|
 * | `instruction:rdtsc`, `instruction:rdtscp` | reading the time stamp counter, wherever the code lies |
 * | `instruction:cpuid`, `instruction:syscall`, `instruction:int 0x80`, `instruction:rep movsb` | an instruction as it is written in Intel's syntax |
 * | `instruction:mov rax, *; syscall` | several of them, one behind the other; `*` stands for anything |
 * | `instruction:/0f 05/`, `instruction:/48 8b ?? 90/` | bytes at the beginning of an instruction |
 * | `instruction:libc!syscall`, `instruction:app!cpuid` | only in that module |
 */
export interface InstructionPattern {
  /** As it was written, without `instruction:` and the module. */
  readonly name: string;
  readonly module?: string;
  /** How it is found in code; those that fault (rdtsc, rdtscp) need not be. */
  readonly code?: CodePattern;
}

const KEY = "instruction:";
/** The kernel makes these fault where it is asked to. */
export const FAULTING: ReadonlySet<string> = new Set(["rdtsc", "rdtscp"]);
/** Whether it is to be seen when the time stamp counter is read. */
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

/** Whether a key of a policy names instructions. */
export function namesInstruction(key: string): boolean {
  return key.startsWith(KEY);
}

/** Throws an Error that says what is wrong with it. */
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
    if (module !== undefined) throw new Error(`"${key}": ${name} is seen in all code, not in one module`);
    return { name };
  }
  return { name, code: codeOf(key, name), ...(module !== undefined && { module }) };
}

function codeOf(key: string, name: string): CodePattern {
  if (name.startsWith("/")) return { by: "bytes", bytes: bytesOf(key, name) };
  const steps = name.split(";").map((step) => textOf(key, step));
  if (steps.length > MAX_STEPS)
    throw new Error(`"${key}": at most ${MAX_STEPS} instructions, one behind the other`);
  return { by: "text", steps };
}

function textOf(key: string, written: string): InstructionText {
  const glob = written.trim().toLowerCase().replace(/\s+/g, " ").replace(/ ?, ?/g, ", ");
  const mnemonic = glob.split(" ").find((word) => !PREFIXES.has(word)) ?? "";
  if (!/^[a-z][a-z0-9]*$/.test(mnemonic))
    throw new Error(
      `"${key}": "${written.trim()}" is no instruction: write it as in Intel's syntax, such as mov rax, *`,
    );
  return { mnemonic, glob };
}

function bytesOf(key: string, name: string): (number | undefined)[] {
  const words = /^\/(.*)\/$/.exec(name)?.[1]?.trim().split(/\s+/) ?? [];
  const right = words.length > 0 && words.every((word) => /^([0-9a-f]{2}|\?\?)$/i.test(word));
  if (!right || words.length > MAX_BYTES || words[0] === "??")
    throw new Error(
      `"${key}": bytes are written as /0f 05 ?? c3/, at most ${MAX_BYTES}, and the first is given`,
    );
  return words.map((word) => (word === "??" ? undefined : Number.parseInt(word, 16)));
}
