import { Socket } from "node:net";
import { constants } from "node:os";
import { native } from "../../kernel/binding/native.js";
import { isBelow } from "../../kernel/process/proc.js";
import { STATUS_SIGNAL } from "./status-signal.js";

const { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH } =
  constants.signals;
const RELAYED = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH];
const ENDING = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
const SI_KERNEL = 128;
const LOOK = constants.signals[STATUS_SIGNAL];
const RECORD = 12;

/**
 * The program is in our process group, so it gets the terminal's signals without us, and we only must not die of them.
 * Signals sent to us alone are for the program: the launcher, who can tell, passes them on. The launcher also stops us when
 * the program stops.
 */
export class SignalRelay {
  #launcher: number | undefined;
  #early: [signal: number, sender: number][] = [];
  #afterwards: (() => void) | undefined;
  readonly #onHangup: (() => void) | undefined;
  readonly #onLook: (asker: number) => void;
  readonly #onEnding: () => void;

  /**
   * `from`: the result of takeSignals(). `onHangup` is called for a SIGHUP sent to us alone, as to daemons; `onLook` with
   * the process that asks for the session's status; `onEnding` for signals that would end most programs.
   */
  constructor(
    from: number,
    onLook: (asker: number) => void,
    onHangup?: () => void,
    onEnding: () => void = () => {},
  ) {
    this.#onHangup = onHangup;
    this.#onLook = onLook;
    this.#onEnding = onEnding;
    hearSignals(from, (signal, code, sender) => this.#received(signal, code, sender));
  }

  started(launcher: number): void {
    this.#launcher = launcher;
    for (const [signal, sender] of this.#early.splice(0)) native().forward(launcher, signal, sender);
  }

  /** Ends the relay: from now on a signal calls this function. */
  ended(afterwards: () => void): void {
    this.#afterwards = afterwards;
  }

  #received(signal: number, code: number, sender: number): void {
    const fromTerminal = code === SI_KERNEL;
    // A program that signals its whole group reaches us too; it has already received the signal itself.
    if (signal === LOOK) {
      if (this.#launcher !== undefined && !descendsFrom(sender, this.#launcher)) this.#onLook(sender);
      return;
    }
    if (ENDING.includes(signal)) this.#onEnding();
    const reached = this.#launcher !== undefined && (fromTerminal || descendsFrom(sender, this.#launcher));
    if (!reached && !fromTerminal && signal === SIGHUP && this.#onHangup) this.#onHangup();
    else if (this.#afterwards && signal !== SIGCONT && signal !== SIGWINCH) this.#afterwards();
    // Before the program exists, even the terminal's signals miss it. The launcher drops those that it received after all.
    else if (this.#launcher === undefined) this.#early.push([signal, sender]);
    else if (!reached) native().forward(this.#launcher, signal, sender);
  }
}

/**
 * From now on signals only show up on the returned descriptor. Signals that were ignored at our start stay ignored, for us
 * and (through the launcher) for the program.
 */
export function takeSignals(ignored: bigint): number {
  const [read, write] = native().pipe();
  const relayed = RELAYED.filter((signal) => ((ignored >> BigInt(signal - 1)) & 1n) === 0n);
  native().relaySignals(write, Uint8Array.from([...relayed, LOOK]));
  for (const signal of RELAYED) if (!relayed.includes(signal)) native().ignoreSignal(signal);
  return read;
}

/** The signals, with their senders. */
function hearSignals(from: number, received: (signal: number, code: number, sender: number) => void): void {
  const socket = new Socket({ fd: from, readable: true, writable: false });
  socket.unref();
  let pending = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    pending = Buffer.concat([pending, bytes]);
    for (; pending.length >= RECORD; pending = pending.subarray(RECORD))
      received(pending.readInt32LE(0), pending.readInt32LE(4), pending.readInt32LE(8));
  });
}

interface AttachedSignals {
  /** A status request from inside the session must not be answered. */
  readonly pid: number;
  readonly leave: () => void;
  readonly onLook: (asker: number) => void;
  readonly onHangup: (() => void) | undefined;
}

/**
 * An attached program is not ours, so signals are for us: terminating ones make us detach. Ctrl-Z is ignored: stopping us
 * would block the program at its next call.
 */
export function hearAttachedSignals(from: number, { pid, leave, onLook, onHangup }: AttachedSignals): void {
  hearSignals(from, (signal, code, sender) => {
    const fromInside = code !== SI_KERNEL && descendsFrom(sender, pid);
    if (signal === LOOK) {
      if (!fromInside) onLook(sender);
    } else if (signal === SIGHUP && code !== SI_KERNEL && onHangup) onHangup();
    else if ([SIGHUP, SIGINT, SIGQUIT, SIGTERM].includes(signal) && !fromInside) leave();
  });
}

function descendsFrom(pid: number, ancestor: number): boolean {
  return pid === ancestor || isBelow(pid, ancestor);
}
