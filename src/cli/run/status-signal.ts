import { closeSync, constants, openSync, readdirSync, writeSync } from "node:fs";
import { readLink } from "../../kernel/process/proc.js";
import type { SessionStatus } from "../../session/options.js";

/**
 * How another process asks a session for its status, without a socket or file that the program could find. The asker sends
 * SIGURG, which a process ignores by default. The kernel reports the sender, and requests from inside the session are
 * ignored. The answer is appended to an unnamed file that the asker holds open.
 */
export const STATUS_SIGNAL = "SIGURG";
const STATUS_FILE = /\/hermes-top-\w+\/answers(?: \(deleted\))?$/;

/** One line of the file. */
export interface StatusReply extends SessionStatus {
  readonly hermes: "status";
  readonly version: 1;
  /** The pids of supervisor, launcher and program. */
  readonly supervisor: number;
  readonly launcher: number;
  readonly pid: number;
  /** An attached session: it has no launcher. */
  readonly attached?: true;
  readonly command: readonly string[];
  /** Seconds since 1970. */
  readonly started: number;
  /** The time of this status. */
  readonly time: number;
}

export function replyStatus(asker: number, answer: StatusReply): void {
  try {
    const folder = `/proc/${asker}/fd`;
    const name = readdirSync(folder).find((fd) => STATUS_FILE.test(readLink(`${folder}/${fd}`)));
    if (name === undefined) return;
    const fd = openSync(`${folder}/${name}`, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
    try {
      writeSync(fd, `${JSON.stringify(answer)}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The asker has ended, or its files are not accessible to us: drop the answer.
  }
}
