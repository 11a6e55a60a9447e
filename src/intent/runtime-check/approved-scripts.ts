import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { CallEvent, HeldFile } from "../../nouns/event.js";
import { encodeText } from "../../nouns/text.js";
import { deny, type Verdict, virtualFile } from "../../nouns/verdict.js";
import type { RuntimeCheckOptions } from "./options.js";

/**
 * The scripts that were approved with a command. The run reads them as they were approved, by the names that the
 * command uses, even if the files changed since: new content, a link to another file, or a replaced folder.
 */
export class ApprovedScripts {
  /** By real path. */
  readonly #contents: ReadonlyMap<string, Buffer>;
  readonly #names: ReadonlyMap<string, string>;

  constructor({ scripts = {}, scriptNames = {} }: RuntimeCheckOptions) {
    this.#contents = new Map(
      Object.entries(scripts).map(([path, content]) => [path, Buffer.from(content, "base64")]),
    );
    this.#names = new Map(Object.entries(scriptNames));
  }

  get isEmpty(): boolean {
    return this.#contents.size === 0;
  }

  /** A program that opens a script for reading gets the approved bytes. */
  read(event: CallEvent): Verdict | undefined {
    const content = this.#approved(event);
    return (
      content && { ...virtualFile(content, "The run reads this script as it was approved."), rule: RULE }
    );
  }

  /** The kernel reads the file itself to execute it, so the file must still have the approved bytes. */
  executed(event: CallEvent): Verdict | undefined {
    const content = this.isEmpty ? undefined : this.#approved(event);
    return !content || content.equals(bytesOf(event)) ? undefined : exchanged(event.path!);
  }

  /** Refuses a folder that leads elsewhere since the approval: names below it would mean other files. */
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
  return { ...deny(`${path} changed after it was approved. Ask for approval again.`), rule: RULE };
}

/** The path as the program wrote it, made absolute, links not resolved. */
function nameOf(event: CallEvent): string | undefined {
  if (event.requested === undefined) return undefined;
  return resolve(event.fd?.target ?? event.process.cwd, event.requested);
}

/** The bytes of the pinned file; without a pin, of the file at that path. */
function bytesOf(event: CallEvent): Buffer {
  const { pinnedFile } = event as { pinnedFile?: HeldFile };
  if (pinnedFile) return pinnedFile.readAll();
  try {
    return readFileSync(encodeText(event.path!) as Buffer);
  } catch {
    return Buffer.alloc(0);
  }
}
