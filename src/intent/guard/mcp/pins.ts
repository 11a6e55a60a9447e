import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { DescribedTool } from "./reading.js";

/** The same for equal definitions, in any order of their keys. */
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

interface PinCheck {
  /** Never seen before: pinned from now on. */
  readonly added: readonly string[];
  /** The definition differs from the approved one. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

type Pins = Record<string, Record<string, string>>;

/** The approved definition of each tool of each server. */
export class ToolPins {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Compares without approving anything. */
  compare(server: string, tools: readonly DescribedTool[]): PinCheck {
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

  /** Approves these definitions and no others. */
  pin(server: string, tools: readonly DescribedTool[]): void {
    this.#write(server, digestsOf(tools));
  }

  /** Approves these definitions too. */
  agree(server: string, tools: readonly DescribedTool[]): void {
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

function digestsOf(tools: readonly DescribedTool[]): Record<string, string> {
  return Object.fromEntries(tools.map(({ name, definition }) => [name, toolDigest(definition)]));
}
