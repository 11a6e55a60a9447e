import { HermesError } from "../../nouns/errors.js";
import { inflated } from "./compressed.js";
import { openDebugFile } from "./debug-file.js";
import { type Dynamic, readDynamic } from "./dynamic.js";
import { Fields, nameAt } from "./fields.js";
import { readTables, type Tables } from "./header.js";
import { type Note, readNotes } from "./notes.js";
import { type PltEntry, readPlt } from "./plt.js";
import { type Relocation, readRelocations } from "./relocations.js";
import { machineName, type Section, type Segment, SHF_COMPRESSED, SHT_NOBITS } from "./sections.js";
import { bytesSource, type ElfSource, fileSource } from "./source.js";
import { SymbolTable } from "./symbol-table.js";
import { symbolSources } from "./symbols.js";

type ElfType = "executable" | "shared" | "pie" | "relocatable" | "core" | "other";

/** A file may declare large zeroed parts, but not larger than this. */
const MOST_ZEROES = 1 << 28;

/**
 * An ELF file. Everything in it is hostile: tables are checked when they are read. An error that does not stop the reader
 * goes to `problems`. Parts are read on first use, from the file that was opened.
 */
export class Elf {
  readonly #source: ElfSource;
  readonly #tables: Tables;
  #dynamic: Dynamic | undefined;
  #notes: readonly Note[] | undefined;
  #symbols: SymbolTable | undefined;
  #relocations: readonly Relocation[] | undefined;
  #plt: readonly PltEntry[] | undefined;
  #debug: Elf | null | undefined;

  private constructor(
    source: ElfSource,
    readonly path: string,
  ) {
    this.#source = source;
    try {
      this.#tables = readTables(source, path);
    } catch (error) {
      source.close();
      throw error;
    }
  }

  /** Throws ELF_OPEN, ELF_KIND (not an ELF file) or ELF_BROKEN. */
  static open(path: string): Elf {
    return new Elf(fileSource(path), path);
  }

  static from(bytes: Uint8Array, name = "memory"): Elf {
    return new Elf(bytesSource(bytes), name);
  }

  close(): void {
    this.#source.close();
    this.#debug?.close();
  }

  /** Bytes in the file. */
  get size(): number {
    return this.#source.size;
  }

  get type(): ElfType {
    switch (this.#tables.kind) {
      case 1:
        return "relocatable";
      case 2:
        return "executable";
      case 3:
        // Older linkers do not mark programs; libraries that can be started (libc) have a name.
        return this.dynamic.isPie || (this.interpreter !== undefined && this.soname === undefined)
          ? "pie"
          : "shared";
      case 4:
        return "core";
      default:
        return "other";
    }
  }

  get entry(): number {
    return this.#tables.entry;
  }

  get bits(): 32 | 64 {
    return this.#tables.wide ? 64 : 32;
  }

  get littleEndian(): boolean {
    return this.#tables.little;
  }

  /** "x86-64", "aarch64", … */
  get machine(): string {
    return machineName(this.#tables.machine);
  }

  get isX64(): boolean {
    return this.#tables.machine === 62 && this.#tables.wide && this.#tables.little;
  }

  get segments(): readonly Segment[] {
    return this.#tables.segments;
  }

  /** May be empty: nothing needs section headers to run. */
  get sections(): readonly Section[] {
    return this.#tables.sections;
  }

  /** Where the tables of segments and sections end in the file. */
  get tableEnd(): number {
    return this.#tables.end;
  }

  get problems(): readonly string[] {
    return this.#tables.problems;
  }

  section(name: string): Section | undefined {
    return this.#tables.sections.find((section) => section.name === name);
  }

  /** What a section or segment holds: at most its size, less where the file ends; inflated, and zeroes of bss included. */
  bytes(part: Section | Segment): Uint8Array {
    if ("memorySize" in part) {
      const kept = this.#source.read(part.offset, part.fileSize);
      return part.memorySize > kept.length ? this.#padded(kept, part.memorySize) : kept;
    }
    if (part.type === SHT_NOBITS) return this.#padded(new Uint8Array(), part.size);
    const bytes = this.#source.read(part.offset, part.size);
    return (part.flags & SHF_COMPRESSED) === 0 ? bytes : inflated(this.fields(bytes), this.path, part.name);
  }

  /** By virtual address, through the segments; undefined unless all of it is there. */
  bytesAt(address: number, length: number): Uint8Array | undefined {
    const segment = this.segmentAt(address);
    if (segment === undefined || !(length >= 0 && address + length <= segment.address + segment.memorySize))
      return undefined;
    const from = address - segment.address;
    const kept = this.#source.read(
      segment.offset + from,
      Math.max(0, Math.min(length, segment.fileSize - from)),
    );
    return kept.length === length ? kept : this.#padded(kept, length);
  }

  /** The segment that is mapped at an address. */
  segmentAt(address: number): Segment | undefined {
    return this.segments.find(
      (part) => part.type === "load" && address >= part.address && address < part.address + part.memorySize,
    );
  }

  /** Bytes as they lie in the file. */
  raw(offset: number, length: number): Uint8Array {
    return this.#source.read(offset, length);
  }

  /** Where in the file the byte of an address is; undefined for bss and for unmapped addresses. */
  offsetOf(address: number): number | undefined {
    const segment = this.segmentAt(address);
    if (segment === undefined || address - segment.address >= segment.fileSize) return undefined;
    return segment.offset + (address - segment.address);
  }

  /** Bytes of this file as numbers of its width and byte order. */
  fields(bytes: Uint8Array): Fields {
    return new Fields(bytes, this.#tables.wide, this.#tables.little);
  }

  /** What the loader reads. */
  get dynamic(): Dynamic {
    this.#dynamic ??= readDynamic(this);
    return this.#dynamic;
  }

  get soname(): string | undefined {
    return this.dynamic.soname;
  }

  get needed(): readonly string[] {
    return this.dynamic.needed;
  }

  get interpreter(): string | undefined {
    const segment = this.segments.find((part) => part.type === "interpreter");
    return segment && nameAt(this.#source.read(segment.offset, Math.min(segment.fileSize, 4096)), 0);
  }

  get notes(): readonly Note[] {
    this.#notes ??= readNotes(this);
    return this.#notes;
  }

  /** Lowercase hex. */
  get buildId(): string | undefined {
    const note = this.notes.find(({ owner, type }) => owner === "GNU" && type === 3);
    return note && Buffer.from(note.data).toString("hex");
  }

  /** Of the loader's table, the whole file's, .gnu_debugdata and the separate debug file. */
  get symbols(): SymbolTable {
    this.#symbols ??= new SymbolTable(symbolSources(this));
    return this.#symbols;
  }

  /** What the loader fills in: which place belongs to which symbol. */
  get relocations(): readonly Relocation[] {
    this.#relocations ??= readRelocations(this);
    return this.#relocations;
  }

  /** Stubs that jump through such places. Empty unless x86-64. */
  get plt(): readonly PltEntry[] {
    this.#plt ??= readPlt(this);
    return this.#plt;
  }

  /** The separate file with the same build id, or the one .gnu_debuglink names, if its CRC is right. Closed with this one. */
  get debugFile(): Elf | undefined {
    if (this.#debug === undefined) this.#debug = openDebugFile(this, Elf.open) ?? null;
    return this.#debug ?? undefined;
  }

  #padded(kept: Uint8Array, length: number): Uint8Array {
    if (length - kept.length > MOST_ZEROES)
      throw new HermesError("ELF_BROKEN", {
        file: this.path,
        message: `${length} bytes are said to be zero`,
      });
    const padded = new Uint8Array(length);
    padded.set(kept);
    return padded;
  }
}

/** For callers that decode machine code. */
export function requireX64(elf: Elf): void {
  if (elf.isX64) return;
  const order = elf.littleEndian ? "" : ", big endian";
  throw new HermesError("ELF_MACHINE", {
    file: elf.path,
    machine: `${elf.machine} (${elf.bits} bit${order})`,
  });
}
