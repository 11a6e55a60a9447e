import {
  type Argument,
  flagNames,
  isRoute,
  type Syscall,
  type SyscallArguments,
  type SyscallName,
  signalName,
} from "../abi/index.js";
import { type Address, decodeAddress } from "../address.js";
import type { CallEvent, Descriptor, Kin, PathArgument, Receiver, ReturnEvent } from "../event.js";
import { ANSWER_FLAG, KIND, PIN_MISSING } from "../kernel/layout.js";
import { native, RESOLVE } from "../kernel/native.js";
import type { SeenRange, Stop } from "../kernel/stop.js";
import { describeDescriptor, holdDescriptor } from "../process/descriptor.js";
import { decodeText, encodeText } from "../text.js";
import { kinOf } from "./call-kin.js";
import { MAX_ADDRESS, type Piece, readPieces, readString, readWords } from "./memory.js";
import { Messages } from "./messages.js";
import { piecesOf, pointedValue } from "./pieces.js";
import { birthOf, PinnedFile, type Processes, reach, reachForCaller, readPin } from "./reach.js";
import { findReceivers } from "./receivers.js";
import { scalar } from "./scalar.js";
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  changesDescriptor,
  follows,
  HOW_RESOLVE,
  type Shape,
  shapeOf,
} from "./shape.js";
import { Snapshot } from "./snapshot.js";
import { StoppedCall } from "./stopped-call.js";

const O_CREAT = 0o100;
const ENOENT = 2;
const MAX_MEMORY = 64 * 1024;
const NOTHING: readonly SeenRange[] = [];

/** A call as it stopped, decoded field by field when somebody looks. */
export class DecodedCall extends StoppedCall implements CallEvent, ReturnEvent {
  readonly call: Syscall;
  readonly shape: Shape;
  #stop: Stop;
  /** Where the session's events lie, and with them what they hold open: also for one that was detached. */
  readonly #shared: Stop;
  #generation: number;
  /** The entry of the call whose return this is. */
  readonly #entry: DecodedCall | undefined;
  #paths: readonly PathArgument[] | undefined;
  #fd: Descriptor | undefined | null = null;
  /** Read once, so that all who decide see the same. */
  #words: { argv?: readonly string[] | number; env?: readonly string[] | number } | undefined;
  #addresses: readonly Address[] | undefined;
  #names: readonly (Uint8Array | undefined)[] | undefined;
  #messages: Messages | undefined;
  #receivers: readonly Receiver[] | undefined;
  #looked = false;
  /** By the number of the path. */
  readonly #redirected: { readonly to: Buffer; readonly path: string }[] = [];
  noStream = false; // set: it may happen only because its socket is none of TCP
  #args: SyscallArguments[SyscallName] | undefined;
  #replaced: readonly SeenRange[] = NOTHING;

  constructor(stop: Stop, call: Syscall, processes: Processes, entry?: DecodedCall) {
    super(processes);
    this.#stop = stop;
    this.#shared = stop;
    this.#generation = stop.generation;
    this.call = call;
    this.shape = shapeOf(call);
    this.#entry = entry?.call === call ? entry : undefined; // rt_sigreturn comes back to any call
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

  /** Paths, addresses and the struct of an openat2 were copied when the call stopped. */
  protected override takeSnapshot(): Snapshot {
    return Snapshot.of(this.stop, (i) => this.call.args[i]?.kind === "path");
  }

  /** Whether somebody has looked at a path, an address or a structure: then the call must be made with what was seen. */
  get looked(): boolean {
    return this.#looked;
  }

  /** A call that is made in the program's place finds these bytes there. The program's memory is left alone. */
  replace(address: bigint, bytes: Uint8Array): void {
    const from = Number(address);
    this.#replaced = [{ from, to: from + bytes.length, bytes }, ...this.#replaced];
  }

  /** What of the program's memory is known to a call that is made in its place: what was replaced comes first. */
  get known(): readonly SeenRange[] {
    return this.takenSnapshot ? [...this.#replaced, ...this.takenSnapshot.ranges] : this.#replaced;
  }

  /** Sees to it that everything the call reaches is held open; returns how it is to be made (ANSWER_FLAG). */
  pinAll(): number {
    void this.paths;
    void this.addresses;
    if (this.changesDescriptor) void this.fd;
    this.processes.look(this.stop.broker, this.tid);
    const { viewsDiffer, identitiesDiffer } = this.processes;
    const { apart, asTracee, noStream, routed } = ANSWER_FLAG;
    const isRouted = this.shape.message >= 0 && this.controls.some(isRoute);
    return (
      (viewsDiffer ? apart : 0) |
      (identitiesDiffer ? asTracee : 0) |
      (this.noStream ? noStream : 0) |
      (isRouted ? routed : 0)
    );
  }

  /** The errno of a first path that leads nowhere, where the call would not make it lead somewhere; else 0. */
  get unreachable(): number {
    if (this.paths.length === 0) return 0;
    const { state, error } = readPin(this.#shared.pin(0));
    if (state !== PIN_MISSING) return error;
    return this.shape.makesEntry || this.#mayCreate() ? 0 : ENOENT;
  }

  /** What the first path reaches, while it is this event's turn. */
  get pinnedFile(): PinnedFile {
    return new PinnedFile(this.path ?? "", this.#shared.pin(0));
  }

  reach(argument: string, path: Uint8Array): string {
    const first = this.call.args[this.shape.paths[0] ?? -1];
    if (argument === (first?.name ?? "")) return this.redirectPath(path);
    const reached = reachForCaller(this.stop.broker, this.stop.tid, this.processes, decodeText(path));
    reached.release();
    return reached.path;
  }

  /**
   * Another path takes the place of one of them, or of the socket's, and is held from now on; returns where it leads. What
   * was asked for stays known by its name.
   */
  redirectPath(path: Uint8Array, which = 0): string {
    const known = this.#redirected[which];
    if (known && Buffer.compare(known.to, path) === 0) return known.path;
    void this.paths;
    void this.addresses;
    const argument = this.call.args[this.shape.paths[which] ?? -1];
    const follow = argument ? this.#follows(argument) : this.call.name !== "bind";
    const parent = this.shape.changesEntry || (argument ? this.#mayCreate() : !follow);
    const pin = this.#shared.pin(which);
    native().releasePin(pin);
    const flags = (parent ? RESOLVE.parent : 0) | (follow ? RESOLVE.follow : 0);
    const reached = this.#reach(AT_FDCWD, path, flags, pin);
    this.#redirected[which] = { to: Buffer.from(path), path: reached };
    return reached;
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
  get elapsed(): number {
    return this.#entry ? this.time - this.#entry.time : 0;
  }

  // ---------------------------------------------------------------- paths

  get path(): string | undefined {
    return this.paths[0]?.path;
  }

  get requested(): string | undefined {
    const first = this.shape.paths[0];
    if (first === undefined) return undefined;
    this.looks++;
    return this.#entry ? this.#entry.requested : this.#text(first);
  }

  get paths(): readonly PathArgument[] {
    if (this.#entry) return this.#entry.paths;
    this.looks++;
    if (!this.#paths) {
      const found: PathArgument[] = [];
      for (const [k, i] of this.shape.paths.entries()) {
        const path = this.#resolve(i, this.#shared.pin(k));
        if (path) found.push(path);
      }
      this.#paths = found;
    }
    return this.#paths;
  }

  /** The text that a path argument points at, as it was when the call stopped. */
  #text(i: number): string | undefined {
    const stop = this.stop;
    this.#looked = true;
    if (stop.isNull(i)) return undefined;
    if (!stop.has(i)) return readString(this.snapshot, stop.exact(i), 4096);
    if (stop.slotError(i) !== 0 || stop.slotTruncated(i)) return undefined;
    return stop.slotText(i);
  }

  #resolve(i: number, pin: Uint8Array): PathArgument | undefined {
    const requested = this.#text(i);
    if (requested === undefined) return undefined;
    const argument = this.call.args[i]!;
    const dirfd = argument.dirfd === undefined ? AT_FDCWD : this.stop.int(argument.dirfd);
    return {
      argument: argument.name,
      requested,
      path: this.#canonical(i, dirfd, requested, pin),
      madeHere: (levels) => birthOf(pin, levels) >= this.processes.kin.since,
    };
  }

  #canonical(i: number, dirfd: number, requested: string, pin: Uint8Array): string {
    const stop = this.stop;
    if (requested === "" && this.#takesEmptyPath()) return holdDescriptor(stop, dirfd, pin).target ?? "";
    const bytes = stop.has(i) ? stop.slotBytes(i) : encodeText(requested);
    return this.#reach(dirfd, bytes, this.resolveFlags(i), pin);
  }

  /** How a path argument is resolved: RESOLVE bits. */
  resolveFlags(i: number): number {
    const argument = this.call.args[i]!;
    const parent = this.shape.changesEntry || (argument.creates && this.#mayCreate());
    return (
      (this.#follows(argument) ? RESOLVE.follow : 0) |
      (parent ? RESOLVE.parent : 0) |
      (this.#howWord(HOW_RESOLVE) << RESOLVE.howShift)
    );
  }

  #reach(dirfd: number, path: Uint8Array, flags: number, pin: Uint8Array): string {
    return reach(this.stop.tid, this.processes, { broker: this.stop.broker, dirfd, path, flags, pin });
  }

  #follows(argument: Argument): boolean {
    return follows(
      argument,
      (k) => this.stop.uint(k),
      () => this.#howWord(0),
    );
  }

  #takesEmptyPath(): boolean {
    return this.call.name === "readlinkat" || (this.flagBits() & AT_EMPTY_PATH) !== 0;
  }

  #mayCreate(): boolean {
    return this.call.name === "creat" || (this.flagBits() & O_CREAT) !== 0;
  }

  // ---------------------------------------------------------------- descriptors, addresses, flags

  get fd(): Descriptor | undefined {
    if (this.#fd === null) {
      const { fd } = this.shape;
      const number = fd < 0 ? AT_FDCWD : this.stop.int(fd);
      this.#fd = number === AT_FDCWD ? undefined : this.#describe(number);
    }
    return this.#fd;
  }

  #describe(number: number): Descriptor {
    if (!this.changesDescriptor) return describeDescriptor(this.stop.tid, number);
    this.#looked = true;
    return holdDescriptor(this.stop, number, this.#shared.pin(0));
  }

  get changesDescriptor(): boolean {
    return this.stop.kind !== KIND.return && changesDescriptor(this.call, this.stop);
  }

  get address(): Address | undefined {
    return this.addresses[0];
  }

  /** Every address that the call carries: sendmmsg may have many. */
  get addresses(): readonly Address[] {
    this.#addresses ??= this.names.flatMap((bytes, i) => {
      const address = bytes && decodeAddress(bytes);
      return address ? [this.#reachable(address, i)] : [];
    });
    return this.#addresses;
  }

  get kin(): Kin {
    return kinOf(this, this.processes, this.#shared.pin(0));
  }

  /** The addresses as bytes, one for each message, read once: what is decided on is what is used. */
  get names(): readonly (Uint8Array | undefined)[] {
    const { address, message } = this.shape;
    if (this.#entry && !this.#isOut(address < 0 ? message : address)) return this.#entry.names;
    this.looks++;
    this.#looked = true;
    if (address >= 0) this.#names ??= [this.#addressBytes(address)];
    else this.#names ??= this.#ofMessages?.names() ?? [];
    return this.#names;
  }

  get #ofMessages(): Messages | undefined {
    const { message } = this.shape;
    if (message >= 0) this.#messages ??= new Messages(this, message);
    return this.#messages;
  }

  get controls(): readonly string[] {
    return this.#ofMessages?.controls ?? [];
  }

  /** A socket in the file system is what its path reaches. */
  #reachable(address: Address, i: number): Address {
    if (
      address.family !== "unix" ||
      !address.path ||
      address.abstract ||
      i > 0 ||
      this.stop.kind === KIND.return
    )
      return address;
    const parent = this.call.name === "bind" ? RESOLVE.parent : RESOLVE.follow;
    return {
      ...address,
      path: this.#reach(AT_FDCWD, encodeText(address.path), parent, this.#shared.pin(0)),
    };
  }

  #addressBytes(i: number): Uint8Array | undefined {
    const stop = this.stop;
    const argument = this.call.args[i]!;
    if (stop.isNull(i)) return undefined;
    if (argument.direction !== undefined && argument.direction !== "in") {
      if (stop.kind !== KIND.return || stop.result < 0) return undefined;
      const length = this.snapshot.exactly(stop.exact(argument.length!), 4)?.readUInt32LE();
      return length === undefined
        ? undefined
        : this.snapshot.read(stop.exact(i), Math.min(length, MAX_ADDRESS));
    }
    if (stop.has(i)) return stop.slotError(i) ? undefined : Uint8Array.from(stop.slotBytes(i));
    return this.snapshot.read(stop.exact(i), Math.min(stop.uint(argument.length!), MAX_ADDRESS));
  }

  /** The call writes there: what it holds is known when it has returned. Sends write only how much was sent. */
  #isOut(i: number): boolean {
    const { direction = "in", kind } = this.call.args[i] ?? {};
    const sends = (kind === "mmsghdr" || kind === "iovec") && !this.call.classes.includes("read");
    return direction !== "in" && !sends;
  }

  /** openat2's struct open_how, as it was when the call stopped. */
  get how(): Uint8Array | undefined {
    const { how } = this.shape;
    if (how < 0 || !this.stop.has(how) || this.stop.slotError(how) !== 0) return undefined;
    return this.stop.slotBytes(how);
  }

  #howWord(at: number): number {
    const { how } = this;
    return how && how.length >= at + 4 ? Buffer.from(how.buffer, how.byteOffset).readUInt32LE(at) : 0;
  }

  /** The flags as the call has them, those of an openat2 as they were copied. */
  flagBits(): number {
    const { flags, how } = this.shape;
    if (how >= 0) this.looks++;
    return how >= 0 ? this.#howWord(0) : flags >= 0 ? this.stop.uint(flags) : 0;
  }

  get flags(): readonly string[] {
    const { flags, how } = this.shape;
    const table = how >= 0 ? "open" : flags >= 0 ? this.call.args[flags]!.flags : undefined;
    if (table === undefined) return [];
    return flagNames(table, this.flagBits());
  }

  get receivers(): readonly Receiver[] {
    if (this.#entry) return this.#entry.receivers;
    this.#receivers ??= findReceivers(this.call, this.stop, this.process, this.processes);
    return this.#receivers;
  }

  get signal(): string | undefined {
    const at = this.call.args.findIndex(({ kind }) => kind === "signal");
    return at < 0 ? undefined : signalName(this.stop.int(at));
  }

  // ---------------------------------------------------------------- bytes

  get argv(): readonly string[] | undefined {
    return this.#strings("argv");
  }

  get env(): readonly string[] | undefined {
    return this.#strings("env");
  }

  get envSeen(): readonly string[] | undefined {
    const seen = this.#words?.env;
    return typeof seen === "number" ? undefined : seen;
  }

  /** The errno that the kernel has for arguments that cannot be read; 0 for others. */
  get argvError(): number {
    const read = this.shape.argv < 0 || this.#entry ? undefined : this.#read("argv");
    return typeof read === "number" ? read : 0;
  }

  #strings(which: "argv" | "env"): readonly string[] | undefined {
    if (this.shape[which] < 0 || this.#entry) return this.#entry?.[which];
    this.looks++;
    const read = this.#read(which);
    return typeof read === "number" ? undefined : read;
  }

  #read(which: "argv" | "env"): readonly string[] | number {
    this.#words ??= {};
    this.#words[which] ??= readWords(this.snapshot, this.stop.exact(this.shape[which]));
    return this.#words[which];
  }

  get data(): Buffer | undefined {
    return this.dataUpTo(MAX_MEMORY);
  }

  dataUpTo(limit: number): Buffer | undefined {
    if (this.#entry && this.shape.data >= 0 && !this.#isOut(this.shape.data))
      return this.#entry.dataUpTo(limit);
    const pieces = this.dataPieces();
    return pieces && readPieces(this.snapshot, pieces, Math.min(limit, MAX_MEMORY));
  }

  /** Where the call's data lies: in bytes to be written, or on return bytes that were read. */
  dataPieces(): Piece[] | undefined {
    const { data, outData } = this.shape;
    if (data >= 0) return piecesOf(this, data);
    if (outData < 0 || this.stop.kind !== KIND.return || this.stop.result < 0) return undefined;
    return piecesOf(this, outData, this.call.args[outData]!.filled ? this.stop.result : undefined);
  }

  /** Where the program has room for an out argument, and how much. */
  room(i: number): Piece[] {
    return piecesOf(this, i) ?? [];
  }

  /** Where the bytes of one argument lie; on return only as many as the call has filled. */
  filledPieces(i: number): Piece[] | undefined {
    const isOut = this.call.args[i]!.filled !== undefined && this.stop.kind === KIND.return;
    return piecesOf(this, i, isOut ? Math.max(this.stop.result, 0) : undefined);
  }

  readPieces(pieces: readonly Piece[], limit: number): Buffer | undefined {
    return readPieces(this.snapshot, pieces, Math.min(limit, MAX_MEMORY));
  }

  // ---------------------------------------------------------------- arguments by name

  get args(): SyscallArguments[SyscallName] {
    this.#args ??= Object.defineProperties(
      {},
      Object.fromEntries(
        this.call.args.map((a, i) => [a.name, { enumerable: true, get: () => this.value(i) }]),
      ),
    ) as SyscallArguments[SyscallName];
    return this.#args;
  }

  /** One argument decoded by its kind. What the program gave is as it was when the call was made. */
  value(i: number): unknown {
    const argument = this.call.args[i]!;
    if (this.#entry && !this.#isOut(i)) return this.#entry.value(i);
    const number = scalar(this.stop, argument, i);
    if (number !== undefined) return number;
    switch (argument.kind) {
      case "path":
        this.looks++;
        return this.#text(i);
      case "string":
      case "argv":
      case "iovec":
      case "fds":
        return pointedValue(this, argument, i, MAX_MEMORY);
      case "sockaddr":
        return this.stop.kind === KIND.return ? this.#addressBytes(i) : this.names[0];
      default: {
        const pieces = this.filledPieces(i);
        if (argument.kind === "struct") this.#looked = true;
        return pieces && readPieces(this.snapshot, pieces, MAX_MEMORY);
      }
    }
  }
}
