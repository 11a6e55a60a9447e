import { HermesError } from "../../../nouns/errors.js";
import { type Action, findings } from "../finding.js";
import type { Layer } from "../layer.js";
import { KINDS, type Kind } from "../subject.js";
import type { PatternSpec } from "./schema.js";

interface Pattern {
  readonly id: string;
  readonly kinds: readonly Kind[];
  readonly action: Action;
  readonly reason: string;
  find(text: string): { readonly start: number; readonly end: number } | undefined;
}

const make = findings("patterns");

/** The user's own patterns (`patterns:` in hermes.yaml). */
export const patternsLayer: Layer = {
  name: "patterns",
  kinds: KINDS,
  check({ kind, input }, { config }) {
    const own = (config.patterns as readonly Pattern[] | undefined) ?? [];
    return own.flatMap(({ id, kinds, action, reason, find }) => {
      const span = kinds.includes(kind) ? find(input) : undefined;
      return span ? [make[action](id, reason, span)] : [];
    });
  },
};

/** RE2 matches in linear time, for every pattern. Loaded only when the configuration has patterns. */
export async function compilePatterns(specs: readonly PatternSpec[]): Promise<readonly Pattern[]> {
  if (specs.length === 0) return [];
  const { RE2JS } = await import("re2js");
  return specs.map(({ id, kind, match, action, reason }) => {
    try {
      const compiled = RE2JS.compile(match);
      return {
        id,
        kinds: [kind].flat(),
        action,
        reason,
        find(text) {
          const matcher = compiled.matcher(text);
          return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined;
        },
      };
    } catch (cause) {
      const message = `"${match}" is not a valid RE2 regular expression: ${(cause as Error).message}`;
      throw new HermesError("CONFIG", { file: `pattern ${id}`, message }, { cause });
    }
  });
}
