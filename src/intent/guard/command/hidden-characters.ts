import type { RuleHit } from "./checks/check.js";

/** Characters that are invisible, that reverse text, or that control a terminal. Tab, newline and return are text. */
const HIDDEN =
  /\u034f|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u{e0000}|[\u{e0001}-\u{e007f}]/u;
/** Joiners belong between emoji and in some scripts; between Latin letters they only hide something. */
const JOINER = /[\u0000-\u024f][\u200c\u200d]|[\u200c\u200d][\u0000-\u024f]/;
/** A line that overwrites itself: the terminal shows other text than the shell runs. */
const RETURN = /\r(?!\n|$)/;

export function hiddenCharacters(input: string): RuleHit[] {
  if (!/[^\t\n\x20-\x7e]/.test(input)) return [];
  for (const pattern of [HIDDEN, JOINER, RETURN]) {
    const match = pattern.exec(input);
    if (match)
      return [
        { rule: "hidden-characters", span: { start: match.index, end: match.index + match[0].length } },
      ];
  }
  return [];
}
