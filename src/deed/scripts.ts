import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { CallEvent, HeldFile } from "../event.js";
import { encodeText } from "../text.js";
import { deny, type Verdict, virtualFile } from "../verdict.js";
import type { DeedOptions } from "./options.js";

/**
 * The scripts that were approved with a command. The run reads them as they were approved, by the names that it has for
 * them, whatever became of the files since: another text, a link to another file, a folder in the place of theirs.
 */
export class ApprovedScripts {
  /** By real path. */
  readonly #contents: ReadonlyMap<string, Buffer>;
  readonly #names: ReadonlyMap<string, string>;

  constructor({ scripts = {}, scriptNames = {} }: DeedOptions) {
    this.#contents = new Map(
      Object.entries(scripts).map(([path, content]) => [path, Buffer.from(content, "base64")]),
    );
    this.#names = new Map(Object.entries(scriptNames));
  }

  get isEmpty(): boolean {
    return this.#contents.size === 0;
  }

  /** Whoever opens one to read it gets what was approved. */
  read(event: CallEvent): Verdict | undefined {
    const content = this.#approved(event);
    return content && { ...virtualFile(content, "It is read as it was approved."), rule: RULE };
  }

  /** The kernel reads the file itself to run it: that must be what was approved. */
  executed(event: CallEvent): Verdict | undefined {
    const content = this.isEmpty ? undefined : this.#approved(event);
    return !content || content.equals(bytesOf(event)) ? undefined : exchanged(event.path!);
  }

  /** A folder on the way to one leads elsewhere now: names below it would be those of other files. */
  entered(event: CallEvent): Verdict | undefined {
    const named = nameOf(event);
    if (named === undefined) return undefined;
    for (const [name, real] of this.#names) {
      if (!name.startsWith(named === "/" ? named : `${named}/`)) continue;
      const rest = name.slice(named.length);
      if (real.endsWith(rest) && real.slice(0, -rest.length) !== event.path) return exchanged(named);
    }
    return undefined;
  }

  #approved(event: CallEvent): Buffer | undefined {
    if (event.path === undefined) return undefined;
    const known = this.#contents.get(event.path);
    if (known) return known;
    const real = this.#names.get(nameOf(event) ?? "");
    return real === undefined ? undefined : this.#contents.get(real);
  }
}

const RULE = "approved-script";

function exchanged(path: string): Verdict {
  return { ...deny(`${path} is not what was approved: it was exchanged since. Ask again.`), rule: RULE };
}

/** The path as the program wrote it, made absolute, with its links. */
function nameOf(event: CallEvent): string | undefined {
  if (event.requested === undefined) return undefined;
  return resolve(event.fd?.target ?? event.process.cwd, event.requested);
}

/** What was held open when it was decided on, where there is that. */
function bytesOf(event: CallEvent): Buffer {
  const { pinnedFile } = event as { pinnedFile?: HeldFile };
  if (pinnedFile) return pinnedFile.readAll();
  try {
    return readFileSync(encodeText(event.path!) as Buffer);
  } catch {
    return Buffer.alloc(0);
  }
}
