import { remove } from "confusables";
import type { RuleHit } from "./checks/check.js";
import type { Invocation } from "./script.js";

/** A program's name in letters that only look like Latin ones: no real program has such a name. */
export function lookAlikes(invocations: readonly Invocation[]): RuleHit[] {
  return invocations.flatMap(({ argv }) => {
    const name = argv[0];
    if (!name || !/[^\0-\x7f]/.test(name.text)) return [];
    const plain = remove(name.text.normalize("NFKC"));
    return [{ rule: /^[\x20-\x7e]+$/.test(plain) ? "look-alike" : "obfuscated", span: name.span }];
  });
}
