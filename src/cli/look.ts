import { closeSync, constants, openSync, readdirSync, writeSync } from "node:fs";
import { readLink } from "../process/proc.js";
import type { SessionStatus } from "../session/options.js";

/**
 * How somebody outside asks a running session how it is doing, without a socket or a file that the program could find:
 * whoever looks sends SIGURG, which does nothing to a process that does not expect it. The kernel says who sent it; what
 * comes from inside the session is not answered. The answer is appended to a file without a name that the asker holds open.
 */
export const LOOK_SIGNAL = "SIGURG";
export const ANSWERS = /\/hermes-top-\w+\/answers(?: \(deleted\))?$/;

/** One line of the file. */
export interface Answer extends SessionStatus {
  readonly hermes: "status";
  readonly version: 1;
  /** The supervisor's process, its launcher and the program. */
  readonly supervisor: number;
  readonly launcher: number;
  readonly pid: number;
  /** It was there before us: it has no launcher. */
  readonly attached?: true;
  readonly command: readonly string[];
  /** Seconds since 1970. */
  readonly started: number;
  /** When this was said. */
  readonly time: number;
}

export function answerLook(asker: number, answer: Answer): void {
  try {
    const folder = `/proc/${asker}/fd`;
    const name = readdirSync(folder).find((fd) => ANSWERS.test(readLink(`${folder}/${fd}`)));
    if (name === undefined) return;
    const fd = openSync(`${folder}/${name}`, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
    try {
      writeSync(fd, `${JSON.stringify(answer)}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The asker has gone, or is somebody whose files are none of ours: then there is nobody to tell.
  }
}
