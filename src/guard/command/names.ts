import { remove } from "confusables";
import type { Found } from "./checks/check.js";
import type { Invocation } from "./script.js";

/** A program's name in letters that only look like the usual ones: nobody has such a program, somebody wants to fool. */
export function lookAlikes(invocations: readonly Invocation[]): Found[] {
  return invocations.flatMap(({ argv }) => {
    const name = argv[0];
    if (!name || !/[^\0-\x7f]/.test(name.text)) return [];
    const plain = remove(name.text.normalize("NFKC"));
    return [{ rule: /^[\x20-\x7e]+$/.test(plain) ? "look-alike" : "obfuscated", span: name.span }];
  });
}
