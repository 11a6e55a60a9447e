import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import { Observations } from "./observations.js";

/** A learned policy and, beside it, what it was learned from: so that the next run adds to it. */
export class LearnedFile {
  readonly file: string;
  /** `p.learned.json` beside `p.yaml`. */
  readonly evidence: string;

  constructor(file: string) {
    this.file = file;
    this.evidence = `${file.replace(/\.ya?ml$/, "")}.learned.json`;
  }

  /** What earlier runs have shown. Refuses to go on where that would write over what a person wrote. */
  load(force: boolean): Observations {
    if (!existsSync(this.file)) return this.#evidence() ?? new Observations();
    const before = this.#evidence();
    const unchanged = before?.policy !== undefined && before.policy === hash(readFileSync(this.file, "utf8"));
    if (!unchanged && !force)
      throw new HermesError("USAGE", {
        message: before
          ? `${this.file} was changed since it was learned: --repair adds to it, --force writes it anew`
          : `${this.file} is there already and was not learned: name another file, or use --force`,
      });
    return before ?? new Observations();
  }

  save(text: string, observations: Observations): void {
    observations.policy = hash(text);
    write(this.evidence, observations.toJson());
    write(this.file, text);
  }

  #evidence(): Observations | undefined {
    if (!existsSync(this.evidence)) return undefined;
    try {
      return Observations.fromJson(readFileSync(this.evidence, "utf8"));
    } catch (cause) {
      throw new HermesError("EVENTS", { file: this.evidence, message: (cause as Error).message }, { cause });
    }
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Atomic: a program may be running under the policy that is replaced. */
function write(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new HermesError("EVENTS", { file, message: `cannot be written: ${errno}` }, { cause });
  }
}
