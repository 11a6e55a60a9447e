import { statSync } from "node:fs";

const POLL_MS = 40;
/**
 * A file that is written in place may be met half written: it is loaded when it has been quiet for so long. One that was
 * put there by a rename is whole, and is loaded at once.
 */
const QUIET_MS = 80;

/**
 * Watches the files of policies by looking at them. That sees what notifications miss: renames, swapped links, editors'
 * backup dances, files that were absent.
 */
export class FileWatch {
  readonly #onChange: () => void;
  readonly #timer: NodeJS.Timeout;
  #seen: ReadonlyMap<string, string>;
  #changedAt = 0;

  /**
   * Made before the files are loaded, so that no change can fall between loading and watching; or told what was seen of
   * them then.
   */
  constructor(files: readonly string[], onChange: () => void, seen: ReadonlyMap<string, string> = new Map()) {
    this.#onChange = onChange;
    this.#seen = seen;
    this.watch(files);
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#timer.unref();
  }

  /** These files from now on; what is known of some of them stays. */
  watch(files: readonly string[]): void {
    this.#seen = lookAt(files, this.#seen);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    let whole = false;
    const found = new Map(this.#seen);
    for (const [file, before] of this.#seen) {
      const state = fingerprint(file);
      if (state === before) continue;
      found.set(file, state);
      this.#changedAt = now;
      whole ||= identity(state) !== identity(before);
    }
    this.#seen = found;
    if (this.#changedAt > 0 && (whole || now - this.#changedAt >= QUIET_MS)) {
      this.#changedAt = 0;
      this.#onChange();
    }
  }
}

/** How these files look now; what is known of some of them stays. */
export function lookAt(
  files: readonly string[],
  seen: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  return new Map(files.map((file) => [file, seen.get(file) ?? fingerprint(file)]));
}

/** Which file it is, whatever is in it. */
function identity(state: string): string {
  return state.split(" ")[0]!;
}

function fingerprint(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${dev}:${ino} ${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return "absent";
  }
}
