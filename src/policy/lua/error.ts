/** A script's error text may be as long as its memory; a user needs only the beginning. */
const MAX_MESSAGE = 500;

/** An error of a script: the message with its line, and the traceback. */
export class LuaError extends Error {
  readonly traceback: string | undefined;
  /** The script's line, when known. */
  readonly line: number | undefined;
  readonly syntax: boolean;

  constructor(
    message: string,
    chunk: string,
    options: { traceback?: string; syntax?: boolean; cause?: unknown } = {},
  ) {
    const { traceback } = options;
    const line = lineIn(message, chunk) ?? (traceback === undefined ? undefined : lineIn(traceback, chunk));
    const bare = withoutPlaces(message, chunk);
    super(
      bare.length > MAX_MESSAGE ? `${bare.slice(0, MAX_MESSAGE)}…` : bare,
      options.cause !== undefined
        ? { cause: options.cause }
        : traceback !== undefined
          ? { cause: `Lua stack traceback:\n${traceback}` }
          : undefined,
    );
    this.name = "Error";
    this.traceback = traceback;
    this.line = line;
    this.syntax = options.syntax ?? false;
  }

  /** Puts the file name into the stack, so that printing the error shows where it happened. */
  locate(file: string, chunk: string): this {
    const frames = (this.traceback ?? "")
      .split("\n")
      .map((frame) => frame.trim())
      .filter((frame) => frame !== "")
      .map((frame) => `    at ${frame.startsWith(`${chunk}:`) ? file + frame.slice(chunk.length) : frame}`);
    const here = this.line === undefined ? [] : [`    at ${file}:${this.line}`];
    this.stack = [`LuaError: ${this.message}`, ...here, ...frames].join("\n");
    return this;
  }
}

/** Removes the location from the message. An error that was rethrown has one for each time. */
function withoutPlaces(message: string, chunk: string): string {
  let from = 0;
  for (let end = 0; message.startsWith(`${chunk}:`, from); from = end) {
    end = message.indexOf(": ", from + chunk.length + 1) + 2;
    if (!/^\d+$/.test(message.slice(from + chunk.length + 1, end - 2))) break;
  }
  return message.slice(from);
}

function lineIn(text: string, chunk: string): number | undefined {
  for (let at = text.indexOf(`${chunk}:`); at >= 0; at = text.indexOf(`${chunk}:`, at + 1)) {
    const match = /^:(\d+):/.exec(text.slice(at + chunk.length));
    if (match) return Number(match[1]);
  }
  return undefined;
}
