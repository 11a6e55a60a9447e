import { statSync } from "node:fs";

const POLL_MS = 40;
/** The first files are looked at each time, of the others as many in turn. */
const AT_ONCE = 32;
/**
 * A file written in place may be read half written, so it is loaded after it was quiet for this long. A file
 * put there by a rename is complete, and is loaded at once.
 */
const QUIET_MS = 80;

/**
 * Watches policy files by polling. Polling sees what notifications miss: renames, swapped links, editors'
 * backups, files that did not exist.
 */
export class FileWatch {
  readonly #onChange: () => void;
  readonly #timer: NodeJS.Timeout;
  #seen: ReadonlyMap<string, string>;
  #changedAt = 0;
  #turn = 0;

  /**
   * Create it before the files are loaded, so that no change falls between loading and watching; or pass what
   * was seen then.
   */
  constructor(files: readonly string[], onChange: () => void, seen: ReadonlyMap<string, string> = new Map()) {
    this.#onChange = onChange;
    this.#seen = seen;
    this.watch([...new Set([...files, ...seen.keys()])]);
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#timer.unref();
  }

  /** Replaces the watched files; what is known of those that stay is kept. */
  watch(files: readonly string[]): void {
    this.#seen = fileVersions(files, this.#seen);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #nextFiles(): [string, string][] {
    const all = [...this.#seen];
    const others = all.slice(AT_ONCE);
    if (this.#turn >= others.length) this.#turn = 0;
    const inTurn = others.slice(this.#turn, this.#turn + AT_ONCE);
    this.#turn += AT_ONCE;
    return [...all.slice(0, AT_ONCE), ...inTurn];
  }

  #look(): void {
    const now = performance.now();
    let whole = false;
    const found = new Map(this.#seen);
    for (const [file, before] of this.#nextFiles()) {
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

/** The current state of these files; what is known of those that stay is kept. */
export function fileVersions(
  files: readonly string[],
  seen: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  return new Map(files.map((file) => [file, seen.get(file) ?? fingerprint(file)]));
}

/** Which file it is, regardless of its content. */
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
