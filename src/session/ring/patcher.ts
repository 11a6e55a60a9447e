import type { Elf } from "../../binary/elf/elf.js";
import { DT } from "../../binary/elf/index.js";
import type { Module } from "../../kernel/process/modules.js";
import { UnwindTable } from "../../kernel/process/unwind-table.js";
import { Assembler } from "./assembler.js";
import { DISPLACED_MOST, type Displaced, displace, relocated } from "./displace.js";
import { GATE, type Image, type TraceeTools } from "./image.js";
import { MAX_FUNCTIONS, MAX_SITES } from "./lane.js";
import { functionStub, type RingStub, syscallStub, type WhenFull } from "./stub.js";
import { type PatchableSyscall, patchableSyscalls } from "./syscall-sites.js";
import { type CodeBytes, jumpedInto } from "./targets.js";

/** The name and address of a function to observe. */
export interface FunctionToPatch {
  readonly name: string;
  readonly module: string;
  readonly symbol: string | undefined;
  /** The address in the file. */
  readonly address: number;
  /** Why it cannot be observed at its beginning. */
  readonly unfit?: string;
}

/** An observed function, in all processes that map it. */
export interface RingFunction extends FunctionToPatch {
  readonly id: number;
  readonly file: string;
}

const JUMP = 5;
const INT3 = 0xcc;
const EXECUTE = 1;
/** Memory near a module for one system call: a jump to its stub, and the unrecorded call. */
const CALL_ROOM = 48;
/** Memory for a function's stub and the instructions that it displaced. */
const FUNCTION_ROOM = 320;

/** The patchable places of a file, computed once for all processes that map it. */
class PatchableFile {
  readonly code: CodeBytes | undefined;
  readonly #tables: UnwindTable;
  #sites: readonly PatchableSyscall[] | undefined;

  constructor(elf: Elf) {
    this.#tables = UnwindTable.of(elf);
    const text = elf.segments.find(({ type, flags }) => type === "load" && (flags & EXECUTE) !== 0);
    // The loader still changes code with text relocations, so the file does not tell its final form.
    const isFinal = text !== undefined && !elf.dynamic.values.has(DT.TEXTREL);
    this.code = isFinal ? { address: text.address, bytes: elf.bytes(text) } : undefined;
  }

  readonly functionAt = (address: number) => this.#tables.functionAt(address);

  get sites(): readonly PatchableSyscall[] {
    this.#sites ??= this.code ? patchableSyscalls(this.code, this.functionAt) : [];
    return this.#sites;
  }

  /** The first instructions of these functions if a jump can replace them; else the reason. */
  beginnings(addresses: readonly number[]): (Displaced | string)[] {
    const found = addresses.map((address) => this.#beginning(address));
    const bad = jumpedInto(
      this.code ?? { address: 0, bytes: new Uint8Array() },
      found.filter((each) => typeof each !== "string"),
      this.functionAt,
    );
    return found.map((each) =>
      typeof each !== "string" && bad.has(each.address) ? "something jumps into its beginning" : each,
    );
  }

  #beginning(address: number): Displaced | string {
    const { code } = this;
    const offset = code ? address - code.address : -1;
    if (!code || offset < 0 || offset >= code.bytes.length) return "it is not in the file's code";
    const end = Math.min(offset + DISPLACED_MOST, (this.functionAt(address)?.to ?? Infinity) - code.address);
    return displace(code.bytes.subarray(offset, end), address, JUMP);
  }
}

/** Bytes at many addresses, for one write. */
class Patch {
  readonly addresses: number[] = [];
  readonly bytes: number[] = [];

  put(address: number, bytes: readonly number[]): void {
    bytes.forEach((byte, i) => {
      this.addresses.push(address + i);
      this.bytes.push(byte);
    });
  }
}

/** Replaces code by jumps to stubs, before that code runs. */
export class Patcher {
  readonly #hands: TraceeTools;
  readonly #whenFull: WhenFull;
  readonly #files = new WeakMap<Elf, PatchableFile>();
  /** By image: where a thread stops when its lane is full, and where it continues. */
  readonly #stops = new WeakMap<Image, Map<number, number>>();
  readonly functions: RingFunction[] = [];
  readonly #known = new Map<string, RingFunction>();
  /** The number of calls and functions with a stub. */
  patched = 0;
  /** Functions without a stub, and why: they use a breakpoint site. */
  readonly left = new Map<string, string>();

  constructor(hands: TraceeTools, whenFull: WhenFull) {
    this.#hands = hands;
    this.#whenFull = whenFull;
  }

  retryOf(image: Image, address: number): number | undefined {
    return this.#stops.get(image)?.get(address);
  }

  #file(module: Module): PatchableFile | undefined {
    const elf = module.elf();
    if (!elf?.isX64) return undefined;
    let file = this.#files.get(elf);
    if (!file) {
      file = new PatchableFile(elf);
      this.#files.set(elf, file);
    }
    return file;
  }

  // ---------------------------------------------------------------- system calls

  /** Patches every system call of the module that can have a stub. */
  patchCalls(tid: number, image: Image, module: Module): void {
    const sites = this.#file(module)?.sites ?? [];
    const { bias } = module;
    if (sites.length === 0 || bias === undefined) return;
    const near = this.#hands.near(tid, module.from, module.to, sites.length * CALL_ROOM);
    if (near === undefined) return;
    const patch = new Patch();
    const rooms = new Uint8Array(sites.length * CALL_ROOM).fill(INT3);
    const stubs: number[] = [];
    sites.forEach((site, i) => {
      const address = site.address + bias;
      const back = address + site.length;
      const room = near + i * CALL_ROOM;
      const stubAt = image.gate + stubs.length;
      const way = new Assembler().jumpFar(stubAt).label("plain").raw(0x0f, 0x05).copy(site.behind);
      const bytes = way.jumpFar(back).finish();
      const stub = syscallStub({
        site: image.sites++ % MAX_SITES,
        table: GATE.table,
        before: site.before,
        behind: site.behind,
        back,
        plain: room + way.offset("plain"),
        whenFull: this.#whenFull,
      });
      if (bytes.length > CALL_ROOM || stubAt + stub.code.length > GATE.to) return;
      rooms.set(bytes, i * CALL_ROOM);
      for (const byte of stub.code) stubs.push(byte);
      this.#remember(image, stub, stubAt);
      patch.put(address, jumpOver(address, room, site.length));
      this.patched++;
    });
    this.#hands.store(tid, near, rooms);
    this.#hands.store(tid, image.gate, Uint8Array.from(stubs));
    image.gate += stubs.length;
    this.#apply(tid, patch);
  }

  #remember(image: Image, { full, retry }: RingStub, at: number): void {
    if (full === undefined) return;
    let stops = this.#stops.get(image);
    if (!stops) {
      stops = new Map();
      this.#stops.set(image, stops);
    }
    stops.set(at + full, at + retry);
  }

  #apply(tid: number, { addresses, bytes }: Patch): void {
    this.#hands.patch(tid, addresses, Uint8Array.from(bytes));
  }

  // ---------------------------------------------------------------- functions

  /**
   * Counts calls at the beginning of the module's functions, and records them if requested. Returns the
   * functions without a stub; `left` holds the reasons.
   */
  patchFunctions(
    tid: number,
    image: Image,
    module: Module,
    wanted: readonly FunctionToPatch[],
    records: boolean,
  ): RingFunction[] {
    const observed = wanted.flatMap((each) => this.#observed(module, each) ?? []);
    const file = this.#file(module);
    const { bias } = module;
    if (observed.length === 0 || bias === undefined || !file) return observed;
    const near = this.#hands.near(tid, module.from, module.to, observed.length * FUNCTION_ROOM);
    if (near === undefined) return this.#leave(observed, "there is no memory near it");
    const patch = new Patch();
    const rooms = new Uint8Array(observed.length * FUNCTION_ROOM).fill(INT3);
    const left: RingFunction[] = [];
    file.beginnings(observed.map(({ address }) => address)).forEach((displaced, i) => {
      const each = observed[i]!;
      const room = near + i * FUNCTION_ROOM;
      const made =
        each.unfit ??
        (typeof displaced === "string"
          ? displaced
          : this.#functionCode(each.id, displaced, bias, room, records));
      if (typeof made === "string" || typeof displaced === "string") {
        left.push(...this.#leave([each], String(made)));
        return;
      }
      rooms.set(made.code, i * FUNCTION_ROOM);
      this.#remember(image, made, room);
      const address = displaced.address + bias;
      patch.put(address, jumpOver(address, room, displaced.length));
      this.patched++;
    });
    this.#hands.store(tid, near, rooms);
    this.#apply(tid, patch);
    return left;
  }

  #leave(functions: readonly RingFunction[], why: string): RingFunction[] {
    for (const { name } of functions) this.left.set(name, why);
    return [...functions];
  }

  #observed(module: Module, wanted: FunctionToPatch): RingFunction | undefined {
    const key = `${module.path} ${wanted.address}`;
    let known = this.#known.get(key);
    if (!known && this.functions.length < MAX_FUNCTIONS) {
      known = { ...wanted, id: this.functions.length, file: module.path };
      this.#known.set(key, known);
      this.functions.push(known);
    }
    return known;
  }

  #functionCode(
    id: number,
    displaced: Displaced,
    bias: number,
    room: number,
    records: boolean,
  ): RingStub | string {
    const stub = functionStub({ id, records, whenFull: this.#whenFull });
    const from = displaced.address + bias;
    try {
      const moved = relocated(displaced, from, room + stub.code.length);
      const code = new Assembler().copy(stub.code).copy(moved);
      if (!displaced.leaves) code.jumpFar(from + displaced.length);
      return code.length > FUNCTION_ROOM ? "its beginning is too long" : { ...stub, code: code.finish() };
    } catch {
      return "it refers to an address that is too far away";
    }
  }
}

/** A jump that replaces `length` bytes. No code jumps to the bytes after it; an attempt would trap. */
function jumpOver(from: number, to: number, length: number): number[] {
  const distance = to - (from + JUMP);
  const bytes = [0xe9, ...[0, 8, 16, 24].map((shift) => (distance >> shift) & 0xff)];
  while (bytes.length < length) bytes.push(INT3);
  return bytes;
}
