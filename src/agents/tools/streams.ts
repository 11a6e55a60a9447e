import { closeSync, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { ReadStream } from "node:tty";
import { native } from "../../kernel/binding/native.js";
import type { RunEvents, RunOrder } from "./backend.js";

/** The host's ends of a run's stdin, stdout and stderr: pipes, or a terminal. */
export interface Streams {
  /** The run's stdin, stdout and stderr. */
  readonly stdio: readonly [number, number, number];
  readonly blocking: readonly (boolean | undefined)[];
  /** Closes our copies of the run's ends. While we hold them, the run's streams would never report their end. */
  handedOver(): void;
  /** Called when no process of the run is left. */
  over(): void;
  write(bytes: string | Uint8Array): void;
  closeInput(): void;
  resize(columns: number, rows: number): void;
  /** Everything is read, and every writer has ended. */
  readonly ended: Promise<void>;
  close(): void;
}

type Output = NonNullable<RunEvents["output"]>;

export function openStreams(
  { stdin, terminal }: Pick<RunOrder, "stdin" | "terminal">,
  output: Output,
): Streams {
  return terminal ? openTerminal(terminal, output) : openPipes(stdin, output);
}

function openPipes(stdin: RunOrder["stdin"], output: Output): Streams {
  const writes = stdin === "pipe";
  // Our own stdin has other readers before and after the run: it stays as it is.
  const ours = stdin === "ours" && isOpen(0);
  const [inRead, inWrite] = writes ? native().pipe() : [ours ? 0 : openSync("/dev/null", "r"), -1];
  const [outRead, outWrite] = native().pipe();
  const [errRead, errWrite] = native().pipe();
  const theirs = once(ours ? [outWrite, errWrite] : [inRead, outWrite, errWrite]);
  const input = writes ? new Socket({ fd: inWrite, readable: false, writable: true }) : undefined;
  input?.on("error", () => {}); // the run closed its stdin
  const out = reader(new Socket({ fd: outRead, readable: true, writable: false }), (bytes) =>
    output("stdout", bytes),
  );
  const err = reader(new Socket({ fd: errRead, readable: true, writable: false }), (bytes) =>
    output("stderr", bytes),
  );
  return {
    stdio: [inRead, outWrite, errWrite],
    blocking: [ours ? undefined : true, true, true],
    handedOver: theirs,
    over: () => {},
    write: (bytes) => void input?.write(bytes),
    closeInput: () => void input?.end(),
    resize: () => {},
    ended: Promise.all([out.ended, err.ended]).then(() => {}),
    close() {
      theirs();
      for (const stream of [input, out.stream, err.stream]) stream?.destroy();
    },
  };
}

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

/** End of input on a terminal: Ctrl-D. */
const END_OF_INPUT = "\u0004";

function openTerminal({ columns, rows }: { columns: number; rows: number }, output: Output): Streams {
  const [ours, theirs] = native().terminal(columns, rows);
  const letGo = once([theirs]);
  const terminal = reader(new ReadStream(ours), (bytes) => output("stdout", bytes));
  return {
    stdio: [theirs, theirs, theirs],
    blocking: [true, true, true],
    // Keeps the slave open. A program that closes its streams before it ends would otherwise seem to have ended, and
    // closing our side then would send it SIGHUP.
    handedOver: () => {},
    over: letGo,
    write: (bytes) => void terminal.stream.write(bytes),
    closeInput: () => void terminal.stream.write(END_OF_INPUT),
    resize: (columns, rows) => void native().resizeTerminal(ours, columns, rows),
    ended: terminal.ended,
    close() {
      letGo();
      terminal.stream.destroy();
    },
  };
}

/** A terminal whose slave is closed reports EIO instead of end of file. */
function reader(stream: Socket, output: (bytes: Buffer) => void | Promise<void>) {
  const ended = new Promise<void>((resolve) => {
    stream.on("data", (bytes: Buffer) => {
      const taken = output(bytes);
      if (!taken) return;
      stream.pause();
      void taken.finally(() => stream.resume());
    });
    stream.on("error", () => resolve());
    stream.on("close", () => resolve());
    stream.on("end", () => resolve());
  });
  return { stream, ended };
}

function once(fds: readonly number[]): () => void {
  let left = fds;
  return () => {
    for (const fd of left) closeSync(fd);
    left = [];
  };
}
