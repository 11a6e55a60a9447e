import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { HermesError } from "../../errors.js";
import type { Tool } from "./reading.js";

/** The same for equal definitions, whatever the order of their keys. */
export function toolDigest(definition: unknown): string {
  return createHash("sha256").update(canonical(definition)).digest("hex");
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
    .join(",")}}`;
}

export interface PinCheck {
  /** Never seen before: pinned from now on. */
  readonly added: readonly string[];
  /** Described otherwise than when somebody agreed to it. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

type Pins = Record<string, Record<string, string>>;

/** Which definition of each tool of each server was agreed to. */
export class ToolPins {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Compares without agreeing to anything. */
  compare(server: string, tools: readonly Tool[]): PinCheck {
    const pinned = this.#read()[server] ?? {};
    const names = new Set(tools.map(({ name }) => name));
    return {
      added: tools.filter(({ name }) => !(name in pinned)).map(({ name }) => name),
      changed: tools
        .filter(({ name, definition }) => name in pinned && pinned[name] !== toolDigest(definition))
        .map(({ name }) => name),
      removed: Object.keys(pinned).filter((name) => !names.has(name)),
    };
  }

  /** Somebody agreed to these definitions, and to no others. */
  pin(server: string, tools: readonly Tool[]): void {
    this.#write(server, digestsOf(tools));
  }

  /** … and to these, too. */
  agree(server: string, tools: readonly Tool[]): void {
    this.#write(server, { ...this.#read()[server], ...digestsOf(tools) });
  }

  #write(server: string, digests: Record<string, string>): void {
    const pins = { ...this.#read(), [server]: digests };
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(pins, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, this.#file);
  }

  #read(): Pins {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
    try {
      return JSON.parse(text) as Pins;
    } catch (error) {
      throw new HermesError(
        "PINS",
        { file: this.#file, message: (error as Error).message },
        { cause: error },
      );
    }
  }
}

function digestsOf(tools: readonly Tool[]): Record<string, string> {
  return Object.fromEntries(tools.map(({ name, definition }) => [name, toolDigest(definition)]));
}
