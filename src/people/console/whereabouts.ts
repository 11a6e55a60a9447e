import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Whereabouts {
  readonly url: string;
  readonly pid: number;
}

/** Where the console of a store listens, for later links: in a file beside the links, as long as it runs. */
export class ConsoleWhereabouts {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, "at");
  }

  tell(url: string): void {
    writeFileSync(this.#file, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 });
  }

  /** Another console of the same store may listen now. */
  forget(): void {
    if (this.#read()?.pid === process.pid) rmSync(this.#file, { force: true });
  }

  /** Undefined when no console runs. */
  get url(): string | undefined {
    const at = this.#read();
    return at && isAlive(at.pid) ? at.url : undefined;
  }

  #read(): Whereabouts | undefined {
    try {
      const { url, pid } = JSON.parse(readFileSync(this.#file, "utf8")) as Record<string, unknown>;
      const isWhole = typeof url === "string" && URL.canParse(url) && Number.isSafeInteger(pid);
      return isWhole ? { url: url as string, pid: pid as number } : undefined;
    } catch {
      return undefined;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
