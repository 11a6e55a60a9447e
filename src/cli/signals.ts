import { Socket } from "node:net";
import { constants } from "node:os";
import { native } from "../kernel/native.js";
import { isBelow } from "../process/proc.js";
import { LOOK_SIGNAL } from "./look.js";

const { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH } =
  constants.signals;
const RELAYED = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH];
const ENDING = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
const SI_KERNEL = 128;
const LOOK = constants.signals[LOOK_SIGNAL];
const RECORD = 12;

/**
 * The program is in our process group, so what the terminal sends reaches it without us, and we only must not die of
 * it. What somebody sends to us alone is for the program, and is passed on by the launcher, who can tell. The launcher
 * also stops us when the program stops.
 */
export class SignalRelay {
  #launcher: number | undefined;
  #early: [signal: number, sender: number][] = [];
  #afterwards: (() => void) | undefined;
  readonly #onHangup: (() => void) | undefined;
  readonly #onLook: (asker: number) => void;
  readonly #onEnding: () => void;

  /**
   * `from` is what takeSignals() gave. `onHangup` takes a SIGHUP that somebody sends to us alone, as daemons do; `onLook`
   * is told who asks how the session is doing; `onEnding` hears of what would end most programs.
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

  /** From now on a signal calls this instead. */
  ended(afterwards: () => void): void {
    this.#afterwards = afterwards;
  }

  #received(signal: number, code: number, sender: number): void {
    const fromTerminal = code === SI_KERNEL;
    // A program that signals its whole group meets us there too; it has what it sent already.
    if (signal === LOOK) {
      if (this.#launcher !== undefined && !descendsFrom(sender, this.#launcher)) this.#onLook(sender);
      return;
    }
    if (ENDING.includes(signal)) this.#onEnding();
    const reached = this.#launcher !== undefined && (fromTerminal || descendsFrom(sender, this.#launcher));
    if (!reached && !fromTerminal && signal === SIGHUP && this.#onHangup) this.#onHangup();
    else if (this.#afterwards && signal !== SIGCONT && signal !== SIGWINCH) this.#afterwards();
    // Before there is a program not even the terminal reaches it. The launcher drops what the program got after all.
    else if (this.#launcher === undefined) this.#early.push([signal, sender]);
    else if (!reached) native().forward(this.#launcher, signal, sender);
  }
}

/**
 * From now on signals do nothing to us; returns the descriptor by which they are heard of. Those that were ignored when we
 * were started stay so: for us, and (by the launcher) for the program.
 */
export function takeSignals(ignored: bigint): number {
  const [read, write] = native().pipe();
  const relayed = RELAYED.filter((signal) => ((ignored >> BigInt(signal - 1)) & 1n) === 0n);
  native().relaySignals(write, Uint8Array.from([...relayed, LOOK]));
  for (const signal of RELAYED) if (!relayed.includes(signal)) native().ignoreSignal(signal);
  return read;
}

/** What was sent, with who sent it. */
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

export interface AttachedSignals {
  /** It must not be answered to what it asks about itself. */
  readonly pid: number;
  readonly leave: () => void;
  readonly onLook: (asker: number) => void;
  readonly onHangup: (() => void) | undefined;
}

/**
 * Where the program is not ours, signals are for us: those that end others make us leave it. Ctrl-Z would make it wait
 * for us at its next call, so it does nothing.
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
