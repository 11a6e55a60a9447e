import type { Place, Source } from "../../yaml/source.js";
import { PatternError } from "../match/glob.js";
import { AnswerError } from "./answer.js";
import type { RuleSpec } from "./schema.js";

/** Keys of a rule that take a text or a list of them. */
export type ListKey = "call" | "path" | "address" | "argv" | "user" | "time" | "stack" | "caller";

/** What a rule's keys say, as it is written. Whatever is wrong with it is an error with the line where it stands. */
export class RuleReader {
  readonly spec: RuleSpec;
  readonly place: Place;
  readonly source: Source;

  constructor(spec: RuleSpec, place: Place, source: Source) {
    this.spec = spec;
    this.place = place;
    this.source = source;
  }

  texts(key: ListKey): string[] {
    return this.textsAt([key], this.spec[key]);
  }

  /** As they are written: a number among them stays what the file has. */
  textsAt(steps: Place, value: unknown): string[] {
    const place = [...this.place, ...steps];
    return Array.isArray(value)
      ? value.map((_, i) => this.source.text([...place, i]))
      : [this.source.text(place)];
  }

  /** Compiles a list; an error points at the element that is wrong when one can be told. */
  try<T>(key: ListKey, compile: (texts: readonly string[]) => T): T | undefined {
    const value = this.spec[key];
    if (value === undefined) return undefined;
    const texts = this.texts(key);
    try {
      return compile(texts);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const at =
        texts.length > 1 && key !== "argv" ? texts.findIndex((text) => fails(() => compile([text]))) : -1;
      throw this.error(key, error.message, error, false, at >= 0 ? [at] : []);
    }
  }

  named<T>(key: keyof RuleSpec, compile: () => T): T {
    try {
      return compile();
    } catch (error) {
      if (error instanceof AnswerError) throw this.error(error.key, error.message, error);
      throw error instanceof PatternError ? this.error(key, error.message, error) : error;
    }
  }

  error(key: keyof RuleSpec, message: string, cause?: unknown, onKey = false, rest: Place = []) {
    const text = `rule ${this.spec.id}: ${message}`;
    return this.source.error([...this.place, key, ...rest], text, { cause, onKey });
  }
}

function fails(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}
