import { resolvePath } from "./path-places.js";
import { HOLE, type Invocation } from "./script.js";

const FIRST_STREAM = 63;
const LAST_STREAM = 10;

/** Files that the script itself writes: a script that writes a file and runs it is as readable as one that is typed. */
export class WrittenFiles {
  readonly #texts = new Map<string, string>();
  readonly #readFile: (path: string) => string | undefined;
  #streams = FIRST_STREAM;

  constructor(readFile: (path: string) => string | undefined) {
    this.#readFile = readFile;
  }

  /** The path of a process substitution that prints `text`. */
  addStream(text: string): string {
    const path = `/dev/fd/${this.#streams}`;
    if (this.#streams > LAST_STREAM) this.#streams--;
    this.#texts.set(path, text);
    return path;
  }

  /** Records the files that an invocation with this output writes. */
  addOutput({ argv, redirects, cwd }: Invocation, text: string): void {
    const targets = redirects.filter(({ operator }) => operator !== "<").map(({ target }) => target.text);
    if (argv[0]?.text === "tee") targets.push(...argv.slice(1).map((one) => one.text));
    for (const target of targets) this.#texts.set(resolvePath(target, cwd), text);
  }

  /** The text of a file, and whether it existed before the script ran. `onlyWritten` ignores files that did. */
  read(path: string, cwd: string, onlyWritten = false): { text: string; filed: boolean } | undefined {
    const full = resolvePath(path, cwd);
    const written = this.#texts.get(full);
    if (written !== undefined) return { text: written, filed: false };
    const text = onlyWritten || full.includes(HOLE) ? undefined : this.#readFile(full);
    return text === undefined ? undefined : { text, filed: true };
  }
}
