import { Socket } from "node:net";
import { native } from "../kernel/binding/native.js";

/** What a program wrote, with `capture` of run(). */
export interface CapturedOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** Of stdout and stderr each; what a program writes beyond that is read and dropped. */
const MOST = 64 * 1024 * 1024;

/** Pipes that take a program's output. */
export class OutputCapture {
  readonly ends: readonly [stdout: number, stderr: number];
  readonly #out: Reader;
  readonly #err: Reader;

  constructor() {
    const [outRead, outWrite] = native().pipe();
    const [errRead, errWrite] = native().pipe();
    this.ends = [outWrite, errWrite];
    this.#out = new Reader(outRead);
    this.#err = new Reader(errRead);
  }

  /** Our copies of the program's ends are closed: otherwise the pipes would never end. */
  handedOver(close: (fd: number) => void): void {
    for (const fd of this.ends) close(fd);
  }

  async text(): Promise<CapturedOutput> {
    return { stdout: await this.#out.text, stderr: await this.#err.text };
  }
}

class Reader {
  readonly text: Promise<string>;

  constructor(fd: number) {
    const socket = new Socket({ fd, readable: true, writable: false });
    const pieces: Buffer[] = [];
    let size = 0;
    socket.on("data", (bytes: Buffer) => {
      const piece = bytes.subarray(0, MOST - size);
      size += piece.length;
      if (piece.length > 0) pieces.push(piece);
    });
    this.text = new Promise((resolve, reject) => {
      socket.on("end", () => resolve(Buffer.concat(pieces).toString("utf8")));
      socket.on("error", reject);
    });
  }
}
