import type { View } from "../reading/fold.js";

/** How a match is meant, judged by the words around it. */
export type Meaning = "meant" | "mentioned" | "denied";

/** "never send", "do not ignore": the opposite of the intent. */
const NEGATED =
  /(?:\b(?:never|not|cannot|avoid|refuse to|refuses to|must not|nobody should|no one should|shouldn't|don't|dont|doesn't|won't|can't|mustn't|isn't allowed to|not allowed to|forbidden to|prohibited from|rather than|instead of|prevents?|prevent(?:ed|ing) (?:it|them|agents?|models?) from|refus(?:e|es|ing) to|fail(?:s|ed)? to)|(?:no|without) (?:tool|skill|agent|server|one) (?:may|can|should|must)(?: ever)?)[\s"']+(?:ever |directly |blindly |simply |just |accidentally |automatically |be made to |try to |attempt to |manually )?$/;

/** "the linter ignores", "we ignore": told of somebody, not to the reader. */
const TOLD_OF =
  /(?:^|[\s"'(])(?:we|they|agents?|assistants?|programs?|i|he|she|it|users?|attackers?|adversar(?:y|ies)|models?|llms?|linters?|parsers?|tests?|tools?|that|which|who|people|developers?|reviewers?|teams?|some|would|could|might|may|can|did|does|clients?|servers?|browsers?|scripts?|pages?|documents?|prompts?|inputs?|jobs?|workers?|pipelines?|services?|apps?|library|libraries|function|endpoint)\s+(?:then |also |often |sometimes |usually |always |can |may |might |could |will |would )?$/;

/** Words of people who write about attacks. */
const ABOUT =
  /\b(?:phrases?|strings?|patterns?|regex(?:es)?|attacks?|attackers?|injections?|payloads?|examples?|e\.g|such as|like|tests?|fixtures?|test cases?|detects?|detected|detection|blocks?|blocked|rejects?|rejected|refuses?|filters?|sanitizes?|flags?|flagged|scans?|scanner|cve-\d|blog|paper|article|dataset|benchmark|corpus|red[- ]team|jailbreaks?|vulnerab\w+|mitigat\w+|defen[cds]\w+|threat|malicious|owasp|classifier|says|said|saying|contains?|containing|wrote|reads|titled|called|section|chapter|talk|slides|lesson|training material|policy|rule|documented|docs|prevent\w*|guard)\b/;

const AFTER_CONDITION =
  /^[\s,]{0,3}(?:\(?)(?:if|unless|when|in case|for) (?:you(?:'re| are| have| use| already| only| prefer)|using|your|on|the|it|windows|macos|linux|docker|running)\b/;

/**
 * Attack phrases occur in honest text: as the opposite ("never …"), as a report ("the model ignores …"), and quoted by those
 * who defend against them. Only the first two excuse; a quotation is for a person to look at, unless it is short and said to be one.
 */
export function meaning({ text }: View, start: number, end: number): Meaning {
  const before = text.slice(Math.max(0, start - 60), start);
  if (NEGATED.test(before) || TOLD_OF.test(before)) return "denied";
  if (AFTER_CONDITION.test(text.slice(end, end + 40))) return "denied";
  const lineStart = Math.max(text.lastIndexOf("\n", start - 1) + 1, start - 240);
  const lead = text.slice(lineStart, start);
  if (!ABOUT.test(lead) && !ABOUT.test(text.slice(end, Math.min(end + 120, lineEnd(text, end)))))
    return "meant";
  return isQuoted(text, lineStart, start, end) ||
    /\b(?:to|that|which|tells?|told|telling|asks?|asking|instruct\w*|trick\w*|like|as|e\.g\.?|is|of|for|:)\W{0,3}$/.test(
      lead,
    )
    ? "mentioned"
    : "meant";
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Between two quotation marks of one kind on its line. */
function isQuoted(text: string, lineStart: number, start: number, end: number): boolean {
  const lead = text.slice(lineStart, start);
  const tail = text.slice(end, Math.min(end + 200, lineEnd(text, end)));
  return [
    ['"', '"'],
    ["`", "`"],
    ["'", "'"],
    ["\u201c", "\u201d"],
    ["\u2018", "\u2019"],
    ["\u00ab", "\u00bb"],
  ].some(([open, close]) => {
    const at = lead.lastIndexOf(open!);
    if (at < 0 || !tail.includes(close!)) return false;
    return open !== close || (lead.split(open!).length - 1) % 2 === 1;
  });
}
