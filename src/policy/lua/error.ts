/** What a script did wrong: the message with its line, and how it got there. */
export class LuaError extends Error {
  readonly traceback: string | undefined;
  /** The line of the script that it happened on, when it is known. */
  readonly line: number | undefined;
  readonly syntax: boolean;

  constructor(
    message: string,
    chunk: string,
    options: { traceback?: string; syntax?: boolean; cause?: unknown } = {},
  ) {
    const { traceback } = options;
    const line = lineIn(message, chunk) ?? (traceback === undefined ? undefined : lineIn(traceback, chunk));
    const bare = message.startsWith(`${chunk}:${line}: `)
      ? message.slice(`${chunk}:${line}: `.length)
      : message;
    super(
      bare,
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

  /** Makes the stack name the file, so that whoever prints the error shows where it happened. */
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

function lineIn(text: string, chunk: string): number | undefined {
  for (let at = text.indexOf(`${chunk}:`); at >= 0; at = text.indexOf(`${chunk}:`, at + 1)) {
    const match = /^:(\d+):/.exec(text.slice(at + chunk.length));
    if (match) return Number(match[1]);
  }
  return undefined;
}
