import {
  type Argument,
  errnoName,
  formatFlags,
  type Syscall,
  type SyscallArguments,
  type SyscallName,
} from "../abi/index.js";
import { type Address, decodeAddress } from "../address.js";
import type { CallEvent, Descriptor, PathArgument, ProcessInfo, ReturnEvent } from "../event.js";
import { DOOR, KIND } from "../kernel/layout.js";
import { native, RESOLVE } from "../kernel/native.js";
import type { Stop } from "../kernel/stop.js";
import { describeDescriptor } from "../process/descriptor.js";
import { decodeText, encodeText } from "../text.js";
import {
  MMSGHDR_SIZE,
  type Piece,
  readMemory,
  readMessageHeader,
  readPieces,
  readString,
  readStrings,
  readVectors,
} from "./memory.js";
import { follows, type Shape, shapeOf } from "./shape.js";

const AT_EMPTY_PATH = 0x1000;
const AT_FDCWD = -100;
const MAX_MEMORY = 64 * 1024;
const MAX_ADDRESS = 128;
const MAX_MESSAGES = 1024;

/** Where resolve() leaves its answer, which is read at once. */
const canonicalPath = Buffer.alloc(8192);

/** Who made a call is looked up only when somebody asks. */
export interface Processes {
  get(tid: number): ProcessInfo;
  /** Some tracee may see another tree of files than we do. */
  readonly viewsDiffer: boolean;
}

/** A call as it stopped, decoded field by field when somebody looks. */
export class DecodedCall implements CallEvent, ReturnEvent {
  readonly call: Syscall;
  readonly shape: Shape;
  readonly #processes: Processes;
  #stop: Stop;
  #generation: number;
  /** The entry of the call whose return this is. */
  readonly #entry: DecodedCall | undefined;
  #paths: readonly PathArgument[] | undefined;
  #fd: Descriptor | undefined | null = null;
  #address: Address | undefined | null = null;
  #args: SyscallArguments[SyscallName] | undefined;

  constructor(stop: Stop, call: Syscall, processes: Processes, entry?: DecodedCall) {
    this.#stop = stop;
    this.#generation = stop.generation;
    this.call = call;
    this.shape = shapeOf(call);
    this.#processes = processes;
    this.#entry = entry;
  }

  /** The raw stop, as long as it is this event's turn. */
  get stop(): Stop {
    if (this.#stop.generation !== this.#generation)
      throw new Error("this event has been answered: copy what you need while you decide");
    return this.#stop;
  }

  /** Takes a private copy, so that the event can be read after its turn. */
  detach(): this {
    this.#stop = this.stop.copy();
    this.#generation = this.#stop.generation;
    return this;
  }

  get kind(): "return" {
    // One class serves both interfaces; "return" only types the union's wider side.
    return (this.stop.kind === KIND.return ? "return" : "syscall") as "return";
  }
  get name(): SyscallName {
    return this.call.name as SyscallName;
  }
  get nr(): number {
    return this.call.nr;
  }
  get classes(): readonly string[] {
    return this.call.classes;
  }
  get tid(): number {
    return this.stop.tid;
  }
  get time(): number {
    return this.stop.time;
  }
  get door(): "notify" | "trace" {
    return this.stop.door === DOOR.notify ? "notify" : "trace";
  }
  get process(): ProcessInfo {
    return this.#processes.get(this.stop.tid);
  }
  argument(i: number): bigint {
    return this.stop.exact(i);
  }

  get result(): number {
    return this.stop.result;
  }
  get resultExact(): bigint {
    return this.stop.resultExact;
  }
  get errno(): string | undefined {
    const result = this.result;
    return this.stop.kind === KIND.return && result < 0 && result >= -4095 ? errnoName(-result) : undefined;
  }
  get elapsed(): number {
    return this.#entry ? this.time - this.#entry.time : 0;
  }

  // ---------------------------------------------------------------- paths

  get path(): string | undefined {
    return this.paths[0]?.path;
  }

  get requested(): string | undefined {
    const first = this.shape.paths[0];
    return first === undefined ? undefined : this.#entry ? this.#entry.requested : this.#text(first);
  }

  get paths(): readonly PathArgument[] {
    if (this.#entry) return this.#entry.paths;
    if (!this.#paths) {
      const found: PathArgument[] = [];
      for (const i of this.shape.paths) {
        const path = this.#resolve(i);
        if (path) found.push(path);
      }
      this.#paths = found;
    }
    return this.#paths;
  }

  /** The text that a path argument points at, as it was when the call stopped. */
  #text(i: number): string | undefined {
    const stop = this.stop;
    if (stop.isNull(i)) return undefined;
    if (!stop.has(i)) return readString(stop.tid, stop.exact(i), 4096);
    if (stop.slotError(i) !== 0 || stop.slotTruncated(i)) return undefined;
    return stop.slotText(i);
  }

  #resolve(i: number): PathArgument | undefined {
    const requested = this.#text(i);
    if (requested === undefined) return undefined;
    const argument = this.call.args[i]!;
    const dirfd = argument.dirfd === undefined ? AT_FDCWD : this.stop.int(argument.dirfd);
    return { argument: argument.name, requested, path: this.#canonical(i, dirfd, requested) };
  }

  #canonical(i: number, dirfd: number, requested: string): string {
    const stop = this.stop;
    const { tid } = stop;
    if (requested === "") {
      if (!(this.#flagBits() & AT_EMPTY_PATH) || dirfd === AT_FDCWD)
        return dirfd === AT_FDCWD ? this.process.cwd : "";
      return describeDescriptor(tid, dirfd).target ?? "";
    }
    const follow = follows(
      this.call.args[i]!,
      (k) => stop.uint(k),
      () => this.#howFlags(),
    );
    const path = stop.has(i) ? stop.slotBytes(i) : encodeText(requested);
    const flags = (follow ? RESOLVE.follow : 0) | (this.#processes.viewsDiffer ? RESOLVE.apart : 0);
    const length = native().resolve(tid, dirfd, path, flags, canonicalPath);
    if (length === 0) return requested;
    if (length < 0) return this.#lexical(dirfd, requested);
    return decodeText(canonicalPath.subarray(0, length));
  }

  /** The best name for a path that leads nowhere: the kernel will refuse it whatever we say. */
  #lexical(dirfd: number, requested: string): string {
    const base = requested.startsWith("/")
      ? ""
      : dirfd === AT_FDCWD
        ? this.process.cwd
        : (describeDescriptor(this.stop.tid, dirfd).target ?? "");
    const parts: string[] = [];
    for (const part of `${base}/${requested}`.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  // ---------------------------------------------------------------- descriptors, addresses, flags

  get fd(): Descriptor | undefined {
    if (this.#fd === null) {
      const { fd } = this.shape;
      this.#fd =
        fd < 0 || this.stop.int(fd) === AT_FDCWD
          ? undefined
          : describeDescriptor(this.stop.tid, this.stop.int(fd));
    }
    return this.#fd;
  }

  get address(): Address | undefined {
    if (this.#address === null) this.#address = this.addresses[0];
    return this.#address;
  }

  /** Every address that the call carries: sendmmsg may have many. */
  get addresses(): readonly Address[] {
    const { address, message } = this.shape;
    if (address >= 0) {
      const bytes = this.#addressBytes(address);
      const decoded = bytes && decodeAddress(bytes);
      return decoded ? [decoded] : [];
    }
    return message < 0 ? [] : this.#messages(message).flatMap((m) => this.#messageName(m) ?? []);
  }

  #addressBytes(i: number): Uint8Array | undefined {
    const stop = this.stop;
    const argument = this.call.args[i]!;
    if (stop.isNull(i)) return undefined;
    if (argument.direction !== undefined && argument.direction !== "in") {
      if (stop.kind !== KIND.return || stop.result < 0) return undefined;
      const length = readMemory(stop.tid, stop.exact(argument.length!), 4)?.readUInt32LE();
      return length === undefined
        ? undefined
        : readMemory(stop.tid, stop.exact(i), Math.min(length, MAX_ADDRESS));
    }
    if (stop.has(i)) return stop.slotError(i) ? undefined : stop.slotBytes(i);
    return readMemory(stop.tid, stop.exact(i), Math.min(stop.uint(argument.length!), MAX_ADDRESS));
  }

  /** Where the message headers of a sendmsg or sendmmsg lie. */
  #messages(i: number): bigint[] {
    const base = this.stop.exact(i);
    if (this.call.args[i]!.kind === "msghdr") return [base];
    const count = Math.min(this.stop.uint(this.call.args[i]!.length!), MAX_MESSAGES);
    return Array.from({ length: count }, (_, k) => base + BigInt(k * MMSGHDR_SIZE));
  }

  #messageName(header: bigint): Address | undefined {
    const name = readMessageHeader(this.stop.tid, header)?.name;
    if (!name || name.address === 0n || name.length === 0) return undefined;
    const bytes = readMemory(this.stop.tid, name.address, Math.min(name.length, MAX_ADDRESS));
    return bytes && decodeAddress(bytes);
  }

  #howFlags(): number {
    const { how } = this.shape;
    return how < 0 ? 0 : (readMemory(this.stop.tid, this.stop.exact(how), 8)?.readUInt32LE() ?? 0);
  }

  #flagBits(): number {
    const { flags, how } = this.shape;
    return how >= 0 ? this.#howFlags() : flags >= 0 ? this.stop.uint(flags) : 0;
  }

  get flags(): readonly string[] {
    const { flags, how } = this.shape;
    const table = how >= 0 ? "open" : flags >= 0 ? this.call.args[flags]!.flags : undefined;
    if (table === undefined) return [];
    return formatFlags(table, this.#flagBits()).split("|");
  }

  // ---------------------------------------------------------------- bytes

  get argv(): readonly string[] | undefined {
    const { argv } = this.shape;
    if (argv < 0) return undefined;
    return this.#entry ? this.#entry.argv : readStrings(this.stop.tid, this.stop.exact(argv));
  }

  get env(): readonly string[] | undefined {
    const { env } = this.shape;
    if (env < 0) return undefined;
    return this.#entry ? this.#entry.env : readStrings(this.stop.tid, this.stop.exact(env));
  }

  get data(): Buffer | undefined {
    return this.dataUpTo(MAX_MEMORY);
  }

  dataUpTo(limit: number): Buffer | undefined {
    const pieces = this.dataPieces();
    return pieces && readPieces(this.stop.tid, pieces, Math.min(limit, MAX_MEMORY));
  }

  /** Where the call's data lies: in bytes to be written, or on return bytes that were read. */
  dataPieces(): Piece[] | undefined {
    const { data, outData } = this.shape;
    const isReturn = this.stop.kind === KIND.return;
    if (data >= 0) return this.#pieces(data, Number.MAX_SAFE_INTEGER);
    if (outData < 0 || !isReturn || this.stop.result < 0) return undefined;
    return this.#pieces(
      outData,
      this.call.args[outData]!.filled ? this.stop.result : Number.MAX_SAFE_INTEGER,
    );
  }

  #pieces(i: number, filled: number): Piece[] | undefined {
    const stop = this.stop;
    const argument = this.call.args[i]!;
    if (stop.isNull(i)) return undefined;
    const address = stop.exact(i);
    if (argument.kind === "iovec" || argument.kind === "msghdr" || argument.kind === "mmsghdr") {
      return cut(this.#vectors(argument, i, address), filled);
    }
    const size = argument.kind === "struct" && argument.size ? argument.size : this.#lengthOf(argument);
    return size === undefined ? undefined : [{ address, length: Math.min(size, filled) }];
  }

  #lengthOf(argument: Argument): number | undefined {
    if (argument.length === undefined) return argument.size;
    if (!argument.lengthIsPointer) return this.stop.ulong(argument.length);
    return readMemory(this.stop.tid, this.stop.exact(argument.length), 4)?.readUInt32LE();
  }

  #vectors(argument: Argument, i: number, address: bigint): Piece[] | undefined {
    const { tid } = this.stop;
    if (argument.kind === "iovec") return readVectors(tid, address, this.stop.ulong(argument.length!));
    const pieces: Piece[] = [];
    for (const at of this.#messages(i)) {
      const header = readMessageHeader(tid, at);
      const vectors = header && readVectors(tid, header.vectors, header.vectorCount);
      if (!vectors) return undefined;
      pieces.push(...vectors);
    }
    return pieces;
  }

  /** Where the program has room for an out argument, and how much. */
  room(i: number): Piece[] {
    return this.#pieces(i, Number.MAX_SAFE_INTEGER) ?? [];
  }

  /** Where the bytes of one argument lie; on return only as many as the call has filled. */
  filledPieces(i: number): Piece[] | undefined {
    const isOut = this.call.args[i]!.filled !== undefined && this.stop.kind === KIND.return;
    return this.#pieces(i, isOut ? Math.max(this.stop.result, 0) : Number.MAX_SAFE_INTEGER);
  }

  readPieces(pieces: readonly Piece[], limit: number): Buffer | undefined {
    return readPieces(this.stop.tid, pieces, Math.min(limit, MAX_MEMORY));
  }

  /** Where the first message header keeps its address. */
  messageName(i: number): Piece | undefined {
    const [first] = this.#messages(i);
    return first === undefined ? undefined : readMessageHeader(this.stop.tid, first)?.name;
  }

  memory(address: bigint, length: number): Buffer | undefined {
    return readMemory(this.stop.tid, address, Math.min(length, MAX_MEMORY));
  }

  // ---------------------------------------------------------------- arguments by name

  get args(): SyscallArguments[SyscallName] {
    if (this.#entry && this.stop.kind !== KIND.return) return this.#entry.args;
    this.#args ??= Object.defineProperties(
      {},
      Object.fromEntries(
        this.call.args.map((a, i) => [a.name, { enumerable: true, get: () => this.value(i) }]),
      ),
    ) as SyscallArguments[SyscallName];
    return this.#args;
  }

  /** One argument decoded by its kind. */
  value(i: number): unknown {
    const stop = this.stop;
    const argument = this.call.args[i]!;
    switch (argument.kind) {
      case "int":
      case "offset":
        return argument.width === 32 ? stop.int(i) : stop.long(i);
      case "fd":
      case "dirfd":
      case "pid":
      case "signal":
        return stop.int(i);
      case "uint":
      case "size":
      case "flags":
      case "mode":
      case "uid":
      case "gid":
        return argument.width === 32 ? stop.uint(i) : stop.ulong(i);
      case "address":
        return stop.exact(i);
      case "path":
        return (this.#entry ?? this).#text(i);
      case "string":
        return readString(stop.tid, stop.exact(i), 4096);
      case "argv":
        return readStrings(stop.tid, stop.exact(i));
      case "sockaddr":
        return this.#addressBytes(i);
      case "iovec":
        return readVectors(stop.tid, stop.exact(i), stop.ulong(argument.length!))?.map((p) =>
          readMemory(stop.tid, p.address, Math.min(p.length, MAX_MEMORY)),
        );
      case "fds": {
        const bytes = readMemory(stop.tid, stop.exact(i), 8);
        return bytes?.length === 8 ? [bytes.readInt32LE(0), bytes.readInt32LE(4)] : [];
      }
      default: {
        const pieces = this.filledPieces(i);
        return pieces && readPieces(stop.tid, pieces, MAX_MEMORY);
      }
    }
  }
}

function cut(pieces: Piece[] | undefined, filled: number): Piece[] | undefined {
  let left = filled;
  return pieces?.flatMap((piece) => {
    const length = Math.min(piece.length, left);
    left -= length;
    return length > 0 ? [{ address: piece.address, length }] : [];
  });
}
