import type { YamlPath, YamlSource } from "../../nouns/yaml/source.js";
import { PatternError } from "../match/glob.js";
import { AnswerError } from "./answer.js";
import type { RuleSpec } from "./schema.js";

/** Keys of a rule that take a text or a list of them. */
type ListKey = "call" | "path" | "address" | "argv" | "user" | "time" | "stack" | "caller";

/** A rule's keys, as written. Every error names its line. */
export class RuleReader {
  readonly spec: RuleSpec;
  readonly place: YamlPath;
  readonly source: YamlSource;

  constructor(spec: RuleSpec, place: YamlPath, source: YamlSource) {
    this.spec = spec;
    this.place = place;
    this.source = source;
  }

  texts(key: ListKey): string[] {
    return this.textsAt([key], this.spec[key]);
  }

  /** As written: a number keeps the file's spelling. */
  textsAt(steps: YamlPath, value: unknown): string[] {
    const place = [...this.place, ...steps];
    return Array.isArray(value)
      ? value.map((_, i) => this.source.text([...place, i]))
      : [this.source.text(place)];
  }

  /** Compiles a list; an error names the wrong element, if it is known. */
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

  error(key: keyof RuleSpec, message: string, cause?: unknown, onKey = false, rest: YamlPath = []) {
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
