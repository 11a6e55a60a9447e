import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import { native } from "../kernel/native.js";

const { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGSTOP, SIGWINCH } =
  constants.signals;
const RELAYED = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH];
const SI_KERNEL = 128;
const RECORD = 12;

export interface Relay {
  pid(): number | undefined;
  forward(signal: number): void;
}

/**
 * The program is in our process group, so what the terminal sends reaches it without us, and we only must not die of
 * it. What somebody sends to us alone is for the program, and is passed on.
 */
export function relaySignals(relay: Relay): { followStop(): void } {
  const [read, write] = native().pipe();
  native().relaySignals(write, Uint8Array.from(RELAYED));
  const socket = new Socket({ fd: read, readable: true, writable: false });
  socket.unref();
  let pending = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    pending = Buffer.concat([pending, bytes]);
    for (; pending.length >= RECORD; pending = pending.subarray(RECORD))
      received(relay, pending.readInt32LE(0), pending.readInt32LE(4), pending.readInt32LE(8));
  });
  return { followStop: () => stopWith(relay) };
}

function received(relay: Relay, signal: number, code: number, sender: number): void {
  const fromTerminal = code === SI_KERNEL;
  // A program that signals its whole group meets us there too; it has what it sent already.
  if (!fromTerminal && !descendsFrom(sender, relay.pid())) relay.forward(signal);
  if (signal === SIGTSTP) native().kill(process.pid, SIGSTOP);
}

/** The program has stopped itself: so do we, and the shell that waits for us sees a stopped job as it should. */
function stopWith(relay: Relay): void {
  const pid = relay.pid();
  if (pid !== undefined && stateOf(pid) === "T") native().kill(process.pid, SIGSTOP);
}

function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function stateOf(pid: number): string | undefined {
  const [state] = statOf(pid);
  return state === "t" ? "T" : state;
}

function descendsFrom(pid: number, ancestor: number | undefined): boolean {
  for (let at = pid; at > 1; at = Number(statOf(at)[1] ?? 0)) if (at === ancestor) return true;
  return false;
}
