import { createHash, randomBytes } from "node:crypto";
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join } from "node:path";
import { redact } from "../../intent/guard/credentials/secrets.js";
import { HermesError } from "../../nouns/errors.js";
import { readEvents } from "../../offline/simulate/read.js";
import { Simulator } from "../../offline/simulate/simulate.js";
import { loadPolicy } from "../../policy/load.js";
import type { Policy } from "../../policy/policy.js";
import { HttpRefusal } from "./route.js";

/** What can be wrong with a policy's text, and where. */
type Checked =
  | { readonly ok: true; readonly name: string; readonly calls: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly line: number | null; readonly message: string };

/** A TypeScript policy is a program: a user who could save one here could run anything. */
const EDITABLE = [".yaml", ".yml", ".lua"];
const LONGEST = 200_000;
const EVENTS = 500_000;
const OUTCOMES = 200;

/** A policy's file as it is edited: every draft is loaded as a run would load it before it takes the file's place. */
export class EditedPolicy {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get editable(): boolean {
    return EDITABLE.includes(extname(this.path));
  }

  read(): { readonly text: string; readonly digest: string } {
    try {
      const text = readFileSync(this.path, "utf8");
      return { text, digest: textDigest(text) };
    } catch (cause) {
      const errno = (cause as NodeJS.ErrnoException).code ?? "?";
      throw new HermesError("POLICY_NOT_FOUND", { file: this.path, errno }, { cause });
    }
  }

  async check(text: string): Promise<Checked> {
    try {
      const policy = await this.#load(text);
      return {
        ok: true,
        name: policy.name,
        calls: policy.subscription.calls.size,
        notes: policy.lint?.() ?? [],
      };
    } catch (error) {
      if (!(error instanceof HermesError)) throw error;
      const [, line, message] = /^[^\n]*?:(\d+)(?::\d+)?: ([\s\S]*)$/.exec(error.message) ?? [];
      return { ok: false, line: line === undefined ? null : Number(line), message: message ?? error.message };
    }
  }

  /** What would be decided otherwise on the events of a trace. */
  async tryOn(trace: string, text: string): Promise<object> {
    if (!isAbsolute(trace)) throw new HttpRefusal(400, "a trace is named by its whole path");
    const simulator = new Simulator([await this.#load(text)], [await loadPolicy(this.path)]);
    let left = EVENTS;
    await readEvents(trace, (occurrence) => {
      if (left-- <= 0)
        throw new HttpRefusal(413, `this trace has more than ${EVENTS} events: use hermes simulate`);
      simulator.take(occurrence);
    });
    const { events, outcomes, problems } = simulator.result();
    return {
      events,
      problems,
      changes: outcomes.length,
      outcomes: outcomes.slice(0, OUTCOMES).map(({ event, decision, before, count }) => {
        const { action, rule, reason } = decision;
        return { event, count, before: before?.action, action, rule, reason };
      }),
    };
  }

  /** Atomic: a run that loads it gets the old text or the new one. */
  write(text: string): void {
    const real = realpathSync(this.path);
    const draft = draftOf(real);
    try {
      writeFileSync(draft, text, { mode: statSync(real).mode & 0o777, flag: "wx" });
      renameSync(draft, real);
    } catch (cause) {
      rmSync(draft, { force: true });
      throw new HermesError(
        "OUTPUT",
        { file: real, errno: (cause as NodeJS.ErrnoException).code ?? "?" },
        { cause },
      );
    }
  }

  /** Beside the file, so that what it includes is found. */
  async #load(text: string): Promise<Policy> {
    if (!this.editable)
      throw new HttpRefusal(400, "policies in TypeScript are programs: edit them where they are");
    if (text.length > LONGEST) throw new HttpRefusal(413, "this policy is too long");
    const draft = draftOf(this.path);
    try {
      writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
      return await loadPolicy(draft);
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

/** Old versions are kept in the store, which must hold no secret. */
export function holdsSecret(text: string): boolean {
  return redact(text).text !== text;
}

export function textDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function draftOf(path: string): string {
  const [folder, extension] = [dirname(path), extname(path)];
  const draft = `.${basename(path, extension)}.draft-${randomBytes(6).toString("hex")}${extension}`;
  return join(folder, draft);
}
