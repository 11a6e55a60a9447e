import type { TextView } from "../reading/fold.js";

/** How a match is meant, judged by the words around it. */
type Meaning = "meant" | "mentioned" | "denied";

/** "never send", "do not ignore": the opposite of the intent. */
const NEGATED =
  /(?:\b(?:never|not|cannot|avoid|refuse to|refuses to|must not|nobody should|no one should|shouldn't|don't|dont|doesn't|won't|can't|mustn't|isn't allowed to|not allowed to|forbidden to|prohibited from|rather than|instead of|prevents?|prevent(?:ed|ing) (?:it|them|agents?|models?) from|refus(?:e|es|ing) to|fail(?:s|ed)? to)|(?:no|without) (?:tool|skill|agent|server|one) (?:may|can|should|must)(?: ever)?)[\s"']+(?:ever |directly |blindly |simply |just |accidentally |automatically |be made to |try to |attempt to |manually )?$/;

/** "the linter ignores", "we ignore": a report, not an order to the reader. */
const TOLD_OF =
  /\b(?:this|which|that|it) \**will\** $|(?:^|[\s"'(])(?:we|they|agents?|assistants?|programs?|i|he|she|it|users?|attackers?|adversar(?:y|ies)|models?|llms?|linters?|parsers?|tests?|tools?|that|which|who|people|developers?|reviewers?|teams?|some|would|could|might|may|can|did|does|clients?|servers?|browsers?|scripts?|pages?|documents?|prompts?|inputs?|jobs?|workers?|pipelines?|services?|apps?|library|libraries|function|endpoint)\s+(?:then |also |often |sometimes |usually |always |can |may |might |could |will |would )?$/;

/** Words of people who write about attacks. */
const ABOUT =
  /\b(?:phrases?|strings?|patterns?|regex(?:es)?|attacks?|attackers?|injections?|payloads?|examples?|e\.g|such as|test cases?|unit tests?|tests? (?:that|check|assert|for|case)|fixtures?|detects?|detected|detection|blocks?|blocked|rejects?|rejected|filters?|sanitizes?|flags?|flagged|scans?|scanner|cve-\d|blog|paper|article|dataset|benchmark|corpus|red[- ]team(?:ed|ing)?|jailbreaks?|vulnerab\w+|mitigat\w+|excludes?|excludetools|den(?:y|ies)|disallow\w*|forbid\w*|threat|malicious|owasp|classifier|prompt injection)\b/;

/** "… tells the model to", "… such as": the words that follow are quoted. */
const INTRODUCED =
  /(?:\b(?:tell|tells|telling|told|ask|asks|asking|instruct\w*|trick\w*|tries|try|trying|attempts?|wants?|persuad\w+|convinc\w+|get|gets|make|makes|order\w*)\s+(?:the |an? |your |its |our |your )?(?:[a-z]+ )?to|such as|like|e\.g\.?,?|phrases?|strings?|patterns?|says?|called|titled)[\s:"'\u201c\u2018\u00ab`(]{1,4}$/;

const AFTER_CONDITION =
  /^[\s,]{0,3}\(?(?:if|unless|in case|for|when) (?:you(?:'re| are| have| use| already| only| prefer)(?! (?:asked|told|can|want))|using|on|windows|macos|linux|docker|running)\b/;

/** Adverbs of manner: the words before them do not show whom the text addresses. */
const OF_MANNER = /^(?:without|secretly|covertly|silently|quietly|so )/;

/**
 * Attack phrases occur in honest text: negated ("never …"), reported ("the model ignores …"), or quoted by defenders.
 */
const PASSIVE =
  /\b(?!you\b)[a-z']+ (?:was|were|has been|have been|is|are) (?:told|asked|instructed|ordered|advised|allowed|able) to\s+$|\b(?:lets?|allows?|enables?|helps?) (?:you|users|one|them|people|us)(?: to)?\s+$|\b(?:how|want|possible|option|flag|way|switch|instructions|steps) (?:to|for)\s+$/;

export function meaning({ text }: TextView, start: number, end: number): Meaning {
  const lineStart = Math.max(text.lastIndexOf("\n", start - 1) + 1, start - 240);
  const lead = text.slice(lineStart, start);
  if (OF_MANNER.test(text.slice(start, start + 12))) {
    const sentence = lead.slice(Math.max(lead.lastIndexOf(". "), lead.lastIndexOf("! ")) + 1);
    return /\b(?:never|not|don't|must not|cannot|nothing|no one|nobody|avoid)\b/.test(sentence)
      ? "denied"
      : "meant";
  }
  const before = text.slice(Math.max(0, start - 60), start);
  if (NEGATED.test(before) || TOLD_OF.test(before) || PASSIVE.test(before)) return "denied";
  if (AFTER_CONDITION.test(text.slice(end, end + 40)) || isOptional(lead)) return "denied";
  const quoted = isQuoted(text, lineStart, start, end);
  const around = (
    quoted ? `${lead} ${text.slice(end, Math.min(end + 120, lineEnd(text, end)))}` : lead
  ).replace(HOSTS, " ");
  return ABOUT.test(around) && (quoted || INTRODUCED.test(lead)) ? "mentioned" : "meant";
}

/** "If you already have Docker, …": a choice for some readers, unless the text addresses machines. */
function isOptional(lead: string): boolean {
  const condition =
    /\b(?:if|unless|when) you(?:'re| are| have| already| use| installed| only| run| don't| prefer)\b[^.!?\n]{0,60},\s{1,2}$/.exec(
      lead,
    )?.[0];
  return (
    condition !== undefined &&
    !/\b(?:ai|llms?|models?|agents?|assistants?|bots?|gpt|claude|read(?:ing)?|asked)\b/.test(condition)
  );
}

/** Host names do not count as such words: `evil.example`. */
const HOSTS = /\S{0,80}[\w-]\.[a-z]{2,12}\S{0,80}/g;

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Between two quotation marks of one kind on one line. */
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

const FENCE = /^[ \t]{0,8}(?:>[ \t]?)?(?:```|~~~)/gm;

/** Inside a fenced block of Markdown, or between backticks on one line. */
export function isInCodeBlock(text: string, at: number): boolean {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  if (text.slice(lineStart, at).split("`").length % 2 === 0) return true;
  let fences = 0;
  FENCE.lastIndex = 0;
  for (let match = FENCE.exec(text); match && match.index < at; match = FENCE.exec(text)) fences++;
  return fences % 2 === 1 && FENCE.lastIndex > 0;
}
