import { existsSync, readFileSync } from "node:fs";
import { appendFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HermesError } from "../../../nouns/errors.js";

/** What is remembered, and where it comes from. */
export interface MemoryEntry {
  readonly id: string;
  readonly time: number;
  /** The session that wrote it. */
  readonly session: string;
  readonly text: string;
  /** `source:web`, `warning:conceal`, `approved:persistence`. */
  readonly tags: readonly string[];
}

const TRIES = 200;
const PAUSE_MS = 25;

/** The memory of an agent: one line of JSON per entry. Writers take turns. */
export class MemoryFile {
  readonly path: string;

  constructor(env: Readonly<Record<string, string | undefined>>, home: string = homedir()) {
    this.path = join(env.HERMES_HOME || join(home, ".hermes"), "memory.jsonl");
  }

  /** In the order in which they were written. A line that is no entry is an error: nothing is passed over. */
  list(): readonly MemoryEntry[] {
    if (!existsSync(this.path)) return [];
    const lines = readFileSync(this.path, "utf8").split("\n");
    return lines.flatMap((line, i) => (line === "" ? [] : entryOf(line, `${this.path}:${i + 1}`)));
  }

  /** By its id or the beginning of it. */
  find(id: string): MemoryEntry {
    const found = this.list().filter((entry) => id !== "" && entry.id.startsWith(id));
    if (found.length === 1) return found[0]!;
    const message =
      found.length === 0
        ? `there is no entry ${id} in ${this.path} (hermes memory list)`
        : `${found.length} entries begin with ${id}: give more of the id`;
    throw new HermesError("USAGE", { message });
  }

  async add(entry: MemoryEntry): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await this.#alone(() => appendFile(this.path, `${JSON.stringify(entry)}\n`, { mode: 0o600 }));
  }

  async remove(id: string): Promise<MemoryEntry> {
    return this.#alone(async () => {
      const entry = this.find(id);
      const left = this.list().filter((one) => one !== entry && one.id !== entry.id);
      const draft = `${this.path}.${process.pid}.new`;
      await rm(draft, { force: true });
      const text = left.map((one) => `${JSON.stringify(one)}\n`).join("");
      await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
      await rename(draft, this.path);
      return entry;
    });
  }

  async #alone<T>(act: () => Promise<T>): Promise<T> {
    const lock = `${this.path}.lock`;
    for (let tries = 0; ; tries++)
      try {
        await writeFile(lock, String(process.pid), { flag: "wx", mode: 0o600 });
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        if (tries >= TRIES)
          throw new HermesError("CONFIG", { file: lock, message: "another process holds it" });
        if (isLeft(lock)) await rm(lock, { force: true });
        else await sleep(PAUSE_MS);
      }
    try {
      return await act();
    } finally {
      await rm(lock, { force: true });
    }
  }
}

/** The process that made it has ended. An empty one is about to be written. */
function isLeft(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    return pid > 0 && !existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}

function entryOf(line: string, place: string): MemoryEntry {
  try {
    const { id, time, session, text, tags } = JSON.parse(line) as MemoryEntry;
    if (typeof id === "string" && typeof text === "string" && Array.isArray(tags))
      return { id, time, session, text, tags };
  } catch {
    // Told below.
  }
  throw new HermesError("CONFIG", { file: place, message: "this line is no entry of the memory" });
}
