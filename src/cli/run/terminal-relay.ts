import { createReadStream } from "node:fs";
import { isatty, ReadStream } from "node:tty";
import { native, TERMINAL_STATE } from "../../kernel/binding/native.js";

/** A command that has a terminal of its own. */
interface OnTerminal {
  write(bytes: Uint8Array): void;
  closeInput(): void;
  resize(columns: number, rows: number): void;
}

/** The size of our own terminal; the usual one without. */
export function terminalSize(): { columns: number; rows: number } {
  const size = isatty(1) ? native().terminalSize(1) : 0;
  return size > 0 ? { columns: size & 0xffff, rows: size >>> 16 } : { columns: 80, rows: 24 };
}

/**
 * Gives a command that has a terminal of its own what comes on our stdin. If that is a terminal too, every key is passed on
 * as it is, and so are changes of its size: Ctrl-C is the command's. Returns how to end.
 */
export function relayInput(command: OnTerminal): () => void {
  if (!isatty(0)) return relayPipe(command);
  const state = Buffer.alloc(TERMINAL_STATE);
  // Node's own raw mode still changes output.
  if (native().rawTerminal(0, state) < 0) return () => {};
  const input = new ReadStream(0);
  input.on("data", (bytes: Buffer) => command.write(bytes));
  input.on("error", () => {});
  const resized = () => {
    const { columns, rows } = terminalSize();
    command.resize(columns, rows);
  };
  process.on("SIGWINCH", resized);
  return () => {
    process.off("SIGWINCH", resized);
    input.destroy();
    native().endRawTerminal(0, state);
  };
}

function relayPipe(command: OnTerminal): () => void {
  const input = createReadStream("", { fd: 0, autoClose: false });
  input.on("data", (bytes) => command.write(bytes as Buffer));
  input.on("end", () => command.closeInput());
  input.on("error", () => {}); // there is none
  return () => input.destroy();
}
