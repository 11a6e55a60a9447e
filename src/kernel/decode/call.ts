import {
  flagNames,
  isRoute,
  type Syscall,
  type SyscallArguments,
  type SyscallName,
  signalName,
} from "../../abi/index.js";
import { AT_FDCWD, errnoValue } from "../../abi/named.js";
import type { Address } from "../../nouns/address.js";
import type { CallEvent, Descriptor, Kin, PathArgument, Receiver, ReturnEvent } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import { ANSWER_FLAG, KIND, PIN_MISSING } from "../binding/layout.js";
import type { SeenRange, Stop } from "../binding/stop.js";
import { describeDescriptor, holdDescriptor } from "../process/descriptor.js";
import { argumentPieces, pointedValue } from "./argument-pieces.js";
import { CallAddresses } from "./call-addresses.js";
import { kinOf } from "./call-kin.js";
import { CallPaths } from "./call-paths.js";
import { type CallShape, callShape, changesDescriptor, howWord, isFilledByCall } from "./call-shape.js";
import { type Piece, readPieces, readWords } from "./memory.js";
import { PinnedFile, type ProcessLookup, reachForCaller, readPin } from "./reach-path.js";
import { findReceivers } from "./receivers.js";
import { scalar } from "./scalar.js";
import { Snapshot } from "./snapshot.js";
import { StoppedCall } from "./stopped-thread.js";

const ENOENT = errnoValue("ENOENT");
const MAX_MEMORY = 64 * 1024;
const NOTHING: readonly never[] = [];

/** A stopped call. Each field is decoded on first use. */
export class DecodedCall extends StoppedCall implements CallEvent, ReturnEvent {
  readonly call: Syscall;
  readonly shape: CallShape;
  #stop: Stop;
  /** The session's shared buffer with its pins, also for an event that was detached. */
  readonly #shared: Stop;
  #generation: number;
  /** For a return: the entry of the same call. */
  readonly #entry: DecodedCall | undefined;
  readonly #paths: CallPaths;
  #addresses: CallAddresses | undefined;
  #fd: Descriptor | undefined | null = null;
  /** Read once, so that all policies see the same words. */
  #words: { argv?: readonly string[] | number; env?: readonly string[] | number } | undefined;
  #receivers: readonly Receiver[] | undefined;
  /** A policy has read a path, an address or a structure: the call must be made with the data that it saw. */
  looked = false;
  /** The call may happen only because its socket is not a TCP socket. */
  noStream = false;
  #args: SyscallArguments[SyscallName] | undefined;
  #replaced: readonly SeenRange[] = NOTHING;

  constructor(stop: Stop, call: Syscall, processes: ProcessLookup, entry?: DecodedCall) {
    super(processes);
    this.#stop = stop;
    this.#shared = stop;
    this.#generation = stop.generation;
    this.call = call;
    this.shape = callShape(call);
    this.#paths = new CallPaths(this, processes, stop);
    this.#entry = entry?.call === call ? entry : undefined; // rt_sigreturn resumes any other call
  }

  /** The raw stop, until the event is answered. */
  get stop(): Stop {
    if (this.#stop.generation !== this.#generation)
      throw new Error("this event has been answered: copy what you need while you decide");
    return this.#stop;
  }

  /** Takes a private copy, so that the event can be read after it is answered. */
  detach(): this {
    this.#stop = this.stop.copy();
    this.#generation = this.#stop.generation;
    return this;
  }

  /** Paths, addresses and the struct of an openat2 were copied at the stop. */
  protected override takeSnapshot(): Snapshot {
    return Snapshot.of(this.stop, (i) => this.call.args[i]?.kind === "path");
  }

  /** Gives an on-behalf call these bytes instead of the program's memory, which stays unchanged. */
  replace(address: bigint, bytes: Uint8Array): void {
    const from = Number(address);
    this.#replaced = [{ from, to: from + bytes.length, bytes }, ...this.#replaced];
  }

  /** The program memory that an on-behalf call uses: replaced ranges come first. */
  get known(): readonly SeenRange[] {
    return this.takenSnapshot ? [...this.#replaced, ...this.takenSnapshot.ranges] : this.#replaced;
  }

  /** Pins everything that the call reaches. Returns how to make the call (ANSWER_FLAG). */
  pinAll(): number {
    void this.paths;
    void this.addresses;
    if (this.changesDescriptor) void this.fd;
    this.processes.look(this.stop.broker, this.tid);
    const { viewsDiffer, identitiesDiffer } = this.processes;
    const { otherRoot, asTracee, noStream, routed } = ANSWER_FLAG;
    const isRouted = this.shape.message >= 0 && this.controls.some(isRoute);
    return (
      (viewsDiffer ? otherRoot : 0) |
      (identitiesDiffer ? asTracee : 0) |
      (this.noStream ? noStream : 0) |
      (isRouted ? routed : 0)
    );
  }

  /** The errno of a first path that does not resolve and that the call would not create; else 0. */
  get unreachable(): number {
    if (this.paths.length === 0) return 0;
    const { state, error } = readPin(this.#shared.pin(0));
    if (state !== PIN_MISSING) return error;
    return this.shape.makesEntry || this.#paths.mayCreate() ? 0 : ENOENT;
  }

  /** The file behind the first path, until the event is answered. */
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
   * Replaces one of the paths, or the socket's path, and pins the new file. Returns its canonical path.
   * `requested` keeps the original name.
   */
  redirectPath(path: Uint8Array, which = 0): string {
    return this.#paths.redirect(path, which);
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
    return this.#entry ? this.#entry.requested : this.#paths.text(first);
  }

  get paths(): readonly PathArgument[] {
    if (this.#entry) return this.#entry.paths;
    this.looks++;
    return this.#paths.all;
  }

  /** How to resolve a path argument: RESOLVE bits. */
  resolveFlags(i: number): number {
    return this.#paths.resolveFlags(i);
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
    this.looked = true;
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
    return this.#carriesAddresses ? this.#carried.all : NOTHING;
  }

  get kin(): Kin {
    return kinOf(this, this.processes, this.#shared.pin(0));
  }

  /**
   * The addresses as bytes, one for each message. They are read once, so that the call uses the checked
   * addresses.
   */
  get names(): readonly (Uint8Array | undefined)[] {
    if (!this.#carriesAddresses) return NOTHING;
    const { address, message } = this.shape;
    if (this.#entry && !isFilledByCall(this.call, address < 0 ? message : address)) return this.#entry.names;
    this.looks++;
    return this.#carried.names;
  }

  get #carriesAddresses(): boolean {
    return this.shape.address >= 0 || this.shape.message >= 0;
  }

  get #carried(): CallAddresses {
    this.#addresses ??= new CallAddresses(this, this.#paths, this.#shared);
    return this.#addresses;
  }

  get controls(): readonly string[] {
    return this.#carried.controls;
  }

  /** openat2's struct open_how, as it was at the stop. */
  get how(): Uint8Array | undefined {
    const { how } = this.shape;
    if (how < 0 || !this.stop.has(how) || this.stop.slotError(how) !== 0) return undefined;
    return this.stop.slotBytes(how);
  }

  /** The call's flags; for an openat2, from the copied struct. */
  flagBits(): number {
    const { flags, how } = this.shape;
    if (how >= 0) this.looks++;
    return how >= 0 ? howWord(this.how, 0) : flags >= 0 ? this.stop.uint(flags) : 0;
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

  /** The kernel's errno for argv or envp that cannot be read; else 0. */
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
    if (this.#entry && this.shape.data >= 0 && !isFilledByCall(this.call, this.shape.data))
      return this.#entry.dataUpTo(limit);
    const pieces = this.dataPieces();
    this.readsBytes = true;
    return pieces && readPieces(this.snapshot, pieces, Math.min(limit, MAX_MEMORY));
  }

  /** The pieces of the call's data: to be written or, on return, read. */
  dataPieces(): Piece[] | undefined {
    const { data, outData } = this.shape;
    if (data >= 0) return argumentPieces(this, data);
    if (outData < 0 || this.stop.kind !== KIND.return || this.stop.result < 0) return undefined;
    return argumentPieces(this, outData, this.call.args[outData]!.filled ? this.stop.result : undefined);
  }

  /** The buffers that the program provides for an out argument. */
  room(i: number): Piece[] {
    return argumentPieces(this, i) ?? [];
  }

  /** The pieces of one argument's bytes; on return, only those that the call has filled. */
  filledPieces(i: number): Piece[] | undefined {
    const isOut = this.call.args[i]!.filled !== undefined && this.stop.kind === KIND.return;
    return argumentPieces(this, i, isOut ? Math.max(this.stop.result, 0) : undefined);
  }

  readPieces(pieces: readonly Piece[], limit: number): Buffer | undefined {
    this.readsBytes = true;
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

  /** One argument decoded by its kind. Input from the program is as it was when the call was made. */
  value(i: number): unknown {
    const argument = this.call.args[i]!;
    if (this.#entry && !isFilledByCall(this.call, i)) return this.#entry.value(i);
    const number = scalar(this.stop, argument, i);
    if (number !== undefined) return number;
    switch (argument.kind) {
      case "path":
        this.looks++;
        return this.#paths.text(i);
      case "string":
      case "argv":
      case "iovec":
      case "fds":
        this.readsBytes = true;
        return pointedValue(this, argument, i, MAX_MEMORY);
      case "sockaddr":
        return this.stop.kind === KIND.return ? this.#carried.bytes(i) : this.names[0];
      default: {
        const pieces = this.filledPieces(i);
        this.readsBytes = true;
        if (argument.kind === "struct") this.looked = true;
        return pieces && readPieces(this.snapshot, pieces, MAX_MEMORY);
      }
    }
  }
}
