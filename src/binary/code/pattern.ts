import { type Iced, iced } from "./iced.js";

/** What is looked for in code, always at the beginning of an instruction. */
export type CodePattern =
  | { readonly by: "bytes"; readonly bytes: readonly (number | undefined)[] }
  | { readonly by: "text"; readonly steps: readonly InstructionText[] };

/** One instruction: its name, and what the whole of it looks like (`mov rax, *`). Without operands it means any. */
export interface InstructionText {
  readonly mnemonic: string;
  readonly glob: string;
}

export interface CodeMatch {
  /** From the beginning of the code. */
  readonly offset: number;
  /** All of its instructions together. */
  readonly length: number;
  /** The first of them as text, and the register that it writes, if it is one: `rdrand eax`, `eax`. */
  readonly text: string;
  readonly destination: string | undefined;
}

/** Bytes that every instruction of that name contains: code without them need not be decoded. */
const TELLTALES: Readonly<Record<string, string>> = {
  "int 0x80": "cd80",
  "rep movsb": "f3a4",
  "rep stosb": "f3aa",
  cpuid: "0fa2",
  syscall: "0f05",
  sysenter: "0f34",
  rdpmc: "0f33",
  rdtsc: "0f31",
  rdtscp: "0f01f9",
  xgetbv: "0f01d0",
  rdrand: "0fc7",
  rdseed: "0fc7",
  ud2: "0f0b",
  wrpkru: "0f01ef",
};
const LONGEST = 15;
/** Decoding that began in the middle of an instruction is right again after a few. */
const RUN_UP = 1024;

/**
 * Where a pattern is in code. `starts` are places at which functions begin, in order: decoding begins there, so that
 * data among code puts nothing off. Returns the finds in order.
 */
export function findPattern(
  code: Uint8Array,
  pattern: CodePattern,
  starts: () => readonly number[],
): CodeMatch[] {
  const stretches = windows(code, pattern, starts);
  if (stretches.length === 0) return [];
  const finder = new Finder(code, pattern);
  for (const [from, to] of stretches) finder.look(from, to);
  finder.free();
  return finder.found;
}

/** Whether the pattern has bytes by which it is found quickly; otherwise all code must be decoded. */
export function isQuick(pattern: CodePattern): boolean {
  return telltaleOf(pattern) !== undefined;
}

/** Throws an Error when there is no instruction of such a name. */
export function checkPattern(pattern: CodePattern): void {
  if (pattern.by === "text") for (const { mnemonic } of pattern.steps) mnemonicNumber(iced(), mnemonic);
}

function mnemonicNumber({ Mnemonic }: Iced, name: string): number {
  const number = (Mnemonic as unknown as Record<string, number>)[
    name.charAt(0).toUpperCase() + name.slice(1)
  ];
  if (number === undefined) throw new Error(`no instruction is called "${name}"`);
  return number;
}

/** The stretches of code that have to be decoded. */
function windows(code: Uint8Array, pattern: CodePattern, known: () => readonly number[]): [number, number][] {
  const telltale = telltaleOf(pattern);
  if (!telltale) return cutAt(known(), code.length);
  const reach = (pattern.by === "text" ? pattern.steps.length : pattern.bytes.length) * LONGEST;
  const found: [number, number][] = [];
  const buffer = Buffer.from(code.buffer, code.byteOffset, code.length);
  let at = buffer.indexOf(telltale);
  const starts = at < 0 ? [] : known();
  for (; at >= 0; at = buffer.indexOf(telltale, at + 1)) {
    const from = Math.max(startBefore(starts, at - reach), at - reach - RUN_UP, 0);
    const to = Math.min(at + reach, code.length);
    const last = found.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(to, last[1]);
    else found.push([from, to]);
  }
  return found;
}

function telltaleOf(pattern: CodePattern): Buffer | undefined {
  if (pattern.by === "text") {
    const telltale = pattern.steps
      .map(({ glob, mnemonic }) => TELLTALES[glob] ?? TELLTALES[mnemonic])
      .find((bytes) => bytes !== undefined);
    return telltale === undefined ? undefined : Buffer.from(telltale, "hex");
  }
  const given = pattern.bytes.indexOf(undefined);
  return Buffer.from(pattern.bytes.slice(0, given < 0 ? undefined : given) as number[]);
}

/** The last start at or before a place; 0 when there is none. */
function startBefore(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : starts[low - 1]!;
}

function cutAt(starts: readonly number[], length: number): [number, number][] {
  const cuts = [0, ...starts.filter((start) => start > 0 && start < length), length];
  return cuts.slice(1).map((to, i) => [cuts[i]!, to]);
}

/** A find that has begun, and waits for its other instructions. */
interface Beginning {
  readonly offset: number;
  readonly text: string;
  readonly destination: string | undefined;
  step: number;
}

class Finder {
  readonly found: CodeMatch[] = [];
  readonly #iced = iced();
  readonly #code: Uint8Array;
  readonly #pattern: CodePattern;
  readonly #steps: readonly { readonly mnemonic: number; readonly matches: (text: string) => boolean }[];
  readonly #instruction = new this.#iced.Instruction();
  readonly #formatter = new this.#iced.Formatter(this.#iced.FormatterSyntax.Nasm);

  constructor(code: Uint8Array, pattern: CodePattern) {
    this.#code = code;
    this.#pattern = pattern;
    this.#formatter.spaceAfterOperandSeparator = true;
    this.#formatter.hexPrefix = "0x";
    this.#formatter.hexSuffix = "";
    this.#formatter.uppercaseHex = false;
    this.#steps = (pattern.by === "text" ? pattern.steps : []).map(({ mnemonic, glob }) => ({
      mnemonic: mnemonicNumber(this.#iced, mnemonic),
      matches: globOf(glob),
    }));
  }

  look(from: number, to: number): void {
    const { Decoder, DecoderOptions } = this.#iced;
    const end = Math.min(to + LONGEST, this.#code.length);
    const decoder = new Decoder(64, this.#code.subarray(from, end), DecoderOptions.None);
    let begun: Beginning[] = [];
    while (decoder.canDecode && from + decoder.position < to) {
      const offset = from + decoder.position;
      decoder.decodeOut(this.#instruction);
      if (this.#pattern.by === "bytes") this.#atBytes(offset, this.#pattern.bytes);
      else begun = this.#atText(offset, begun);
    }
    decoder.free();
  }

  #atBytes(offset: number, bytes: readonly (number | undefined)[]): void {
    if (!bytes.every((byte, i) => byte === undefined || this.#code[offset + i] === byte)) return;
    this.#add({ offset, length: this.#instruction.length, ...this.#describe() });
  }

  #atText(offset: number, before: readonly Beginning[]): Beginning[] {
    const begun: Beginning[] = [];
    const candidates = [...before, { offset, step: 0, text: "", destination: undefined }];
    for (const candidate of candidates) {
      const { mnemonic, matches } = this.#steps[candidate.step]!;
      if (this.#instruction.mnemonic !== mnemonic) continue;
      const described = this.#describe();
      if (!matches(described.text)) continue;
      const one = candidate.step === 0 ? { ...candidate, ...described } : candidate;
      if (candidate.step + 1 < this.#steps.length) begun.push({ ...one, step: candidate.step + 1 });
      else
        this.#add({
          offset: one.offset,
          length: offset + this.#instruction.length - one.offset,
          text: one.text,
          destination: one.destination,
        });
    }
    return begun;
  }

  #describe(): { text: string; destination: string | undefined } {
    const { OpKind } = this.#iced;
    const instruction = this.#instruction;
    const writes = instruction.opCount > 0 && instruction.op0Kind === OpKind.Register;
    return {
      text: this.#formatter.format(instruction),
      destination: writes ? this.#formatter.formatRegister(instruction.op0Register) : undefined,
    };
  }

  #add(match: CodeMatch): void {
    if ((this.found.at(-1)?.offset ?? -1) < match.offset) this.found.push(match);
  }

  free(): void {
    this.#instruction.free();
    this.#formatter.free();
  }
}

function globOf(glob: string): (text: string) => boolean {
  const pattern = glob
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
  const named = /[ ,]/.test(glob.replace(/^(rep\w*|lock) /, "")) ? "" : "( .*)?";
  const regular = new RegExp(`^${pattern}${named}$`);
  return (text) => regular.test(text);
}
