import type { Span } from "../finding.js";

/**
 * Orders in free prose have no fixed words. Every sentence that starts with a verb is weighed: what it would do with the
 * user's data, money, accounts or answer, how it is introduced, and where it stands. Ordinary requests between people
 * weigh less than `ENOUGH`; the same request becomes one through an address to a machine, secrecy, or a hidden place.
 */
const ENOUGH = 4;

/** One sign in a sentence, and its weight. */
type Sign = readonly [weight: number, pattern: RegExp];

const MAIL = "[\\w.+-]{1,40}@[\\w-]{1,40}\\.[a-z]";
const URL = "(?:https?://|www\\.)[\\w.-]";
const TARGET = `(?:${MAIL}|${URL}|\\+?\\d[\\d ()-]{7,16})`;
const ACCOUNT = "(?:\\d{6,24}|[a-z]{2}\\d{2}[a-z0-9 ]{8,30}|bc1[a-z0-9]{6,60}|0x[0-9a-f]{8,40})";
const AMOUNT =
  "(?:[$€£]\\s?\\d|\\d[\\d.,]{0,9} ?(?:dollars?|usd|euros?|eur|gbp|pounds?|francs|chf|btc|eth|bitcoins?|rupees|yen|shares?|gift cards?|percent))";
const PRIVATE =
  "(?:invoices?|messages?|e-?mails?|mails|inbox|customer list|contacts?|address(?:es)?|passport|password|credentials?|login|salary|payslips?|salary slips|bank|statements?|contract|documents?|files?|photos?|records?|history|notes|phone number|card|transactions?|conversation|transcript|api keys?|tokens?|secrets?|source code|workspace|database|calendar|location|codes?|data|list|details)";

/** What introduces an order. A sentence of such words alone counts for the next one. */
const LEADS: readonly Sign[] = [
  [
    0,
    /^(?:please|kindly|and|also|then|now|so|just|simply|finally|next|first(?:ly)?|secondly|todo|to do|task)[,:]?\s+/,
  ],
  [0, /^(?:could|can|would|will) you (?:please |also |kindly )?/],
  [0, /^(?:make sure (?:to|that you)|be sure to|go ahead and|remember to|feel free to|you (?:can|may))\s+/],
  [0, /^[>#*•\-\d.)(\s"'“”‘’/[\]{}|=~_`!:;,<%]+/],
  [1, /^(?:important|urgent|attention|critical|warning|notice|p\.?s\.?)\b[!:.,\s-]{1,4}/],
  [
    1,
    /^(?:it is|it's) (?:essential|important|necessary|imperative|vital|crucial|required|mandatory)(?: that you| to| for you to)?(?: do (?:the following|this)(?: first| now)?)?[:.,]?\s*/,
  ],
  [
    1,
    /^(?:you|the reader) (?:must|should|need to|have to|are required to|are asked to|shall|will)(?: also| now| first)?\s+/,
  ],
  [
    1,
    /^(?:before (?:you )?(?:continu|proceed|go(?:ing)? on|do(?:ing)? anything|answer|repl|respond|finish)\w*|as a next step|while you(?:'re| are) at it|in addition to that|on top of that|after (?:that|reading (?:this|it)|you (?:have )?read this)|when you(?:'re| are) done|once (?:done|finished)|at the same time)(?: [a-z]{2,12}){0,3}[,:]?\s+/,
  ],
  [
    2,
    /^(?:do (?:this|the following)|(?:there is|here is|this is) (?:one|a) (?:more )?(?:task|job|thing)(?: to do)?|you must do (?:this|the following)|your (?:next|new) (?:task|step|job)(?: is(?: to)?)?)(?: first| now| next| instead| before anything else)?[:.,]?\s*/,
  ],
  [
    2,
    /^(?:the )?(?:owner|user|administrator|admin|account holder|developer|operator|management|it department|security team|boss)(?: of [a-z ]{1,30}?)? (?:also )?(?:asks|asked|wants|requests|requested|needs|instructs|instructed|requires|orders|ordered|told|tells|has asked)(?: you| the (?:assistant|agent))?(?: to(?: act now)?)?[:.,]?\s*/,
  ],
  [
    2,
    /^(?:system|admin(?:istrator)?|security|it|official|automated|automation|internal|policy|compliance) (?:notice|message|note|alert|update|instruction|request|directive)s?\s*[-:–—]{1,2}\s*/,
  ],
  [
    3,
    /^(?:a |an )?(?:note|message|instruction|request|reminder|info|hint|word) (?:to|for) (?:whoever|whatever|whichever|anyone|anything|any|the|all|every|an?) (?:ai|system|assistant|agent|bot|model|machine|program|software|tool|one|automation|reader|processor|who|that|which|is|processes|reads|handles|parses)[^:.]{0,40}[:.,-]\s*/,
  ],
  [
    3,
    /^(?:one more|another|a|some)(?:thing| thing| task| job| request) for (?:the |an |any )?(?:ai|assistant|agent|bot|model|system)\b[:.,-]?\s*/,
  ],
  [
    3,
    /^(?:dear |hello |hey |hi |ok |okay |to the |for the )?(?:assistant|agent|ai|ai (?:assistant|agent)|bot|chatbot|model|llm|copilot)\s*[,:!-]\s*/,
  ],
  [
    3,
    /^(?:do not|don't|never) (?:mention|tell|reveal|show|report|disclose|inform)(?: (?:this|it|that|anything))?(?: (?:to|about))?(?: (?:the )?(?:user|anyone|anybody|customer|owner|person))(?: about (?:this|it))?[.,:;!]?\s*/,
  ],
];

/** What a sentence would have the reader do; it starts with the verb. */
const ACTS: readonly Sign[] = [
  // Data
  [
    2,
    new RegExp(
      `^(?:send|forward|mail|e-?mail|text|message|dispatch|post|upload|submit|share|transmit|deliver|copy|fax|cc|bcc|pass)\\b.{0,120}\\b(?:to|with|at|into|by) .{0,24}${TARGET}`,
    ),
  ],
  [
    3,
    /^(?:collect|gather|copy|retrieve|look up|fetch|get|find|read|search|extract|export|download|take|list|open|check|access|pull)\b.{0,100}\b(?:and|then) (?:then |also )?(?:send|forward|mail|e-?mail|text|message|dispatch|post|upload|share|copy|put|paste|pass|submit)\b/,
  ],
  [
    2,
    new RegExp(
      `^(?:copy|make sure|ensure|see to it)\\b.{0,60}\\b(?:reach(?:es)?|into|goes to|is sent to|arrives at|gets to)\\b.{0,40}${TARGET}`,
    ),
  ],
  [
    1,
    new RegExp(
      `^.{0,120}\\b(?:every|all|any|each|entire|whole|full|complete|last (?:\\w+|\\d+)|latest|recent|contents? of|(?:of|from) today|customer|of the (?:account|user|owner|customer)|the user'?s|my|private|saved|stored)\\b.{0,40}\\b${PRIVATE}\\b.{0,80}${TARGET}`,
    ),
  ],
  [
    1,
    new RegExp(
      `^.{0,80}\\b(?:passport|passwords?|credentials|salary|bank|inbox|api keys?|secrets?|customer list|contract|home address|medical|2fa|verification)\\b.{0,80}${TARGET}`,
    ),
  ],
  // Money
  [
    3,
    new RegExp(
      `^(?:pay|transfer|wire|withdraw|deposit|donate|top up|purchase|buy|order|refund|send|remit|increase|raise|make a (?:payment|donation|transfer)|set up an? (?:standing order|payment))\\b.{0,60}${AMOUNT}`,
    ),
  ],
  [
    3,
    /^(?:buy|order|purchase|book|get)\b.{0,60}\b(?:most expensive|my (?:saved|stored)|saved card|on my (?:card|account|behalf)|gift cards?)\b/,
  ],
  [
    1,
    new RegExp(
      `^(?:pay|transfer|wire|deposit|donate|top up|send|remit|set up|make|refund)\\b.{0,100}\\b(?:${ACCOUNT}|my (?:account|wallet|savings|checking)|card ending|savings account|checking account|wallet|standing order|gift cards?)`,
    ),
  ],
  [
    1,
    /^(?:refund|withdraw|purchase|order|increase|buy)\b.{0,60}\b(?:card ending|from my|gift cards?|market price|confirm the payment|tip on|savings)\b/,
  ],
  // Access
  [4, /^(?:unlock|open)\b.{0,30}\b(?:door|gate|garage|safe|lock|vault|trunk)s?\b/],
  [
    4,
    /^(?:turn off|disable|deactivate|switch off|disarm|uninstall|stop|remove|bypass)\b.{0,30}\b(?:alarm|cameras?|security system|two-?factor|2fa|mfa|antivirus|virus scanner|firewall|smoke detector|surveillance|spam filter)\b/,
  ],
  [
    3,
    /^(?:add|invite|make|promote|grant|give|assign|set)\b.{0,60}\b(?:as (?:an? )?(?:admin\w*|maintainer|owner|collaborator|editor|moderator|co-owner)|(?:write|admin|root|full|permanent|read|editor|owner) (?:access|permissions?|rights)|access to)\b/,
  ],
  [
    1,
    new RegExp(
      `^(?:add|invite|grant|give|share)\\b.{0,40}(?:${MAIL}|\\bmy (?:friend|colleague|brother|sister|partner|boss)\\b|'[\\w.-]+')`,
    ),
  ],
  [
    3,
    /^(?:share|make|publish|open|set)\b.{0,60}\b(?:public(?:ly)?|anyone with the link|everyone on the internet|without a password|world-readable)\b/,
  ],
  [
    4,
    /^(?:reset|change|set|update) (?:the |my |their )?(?:[a-z']{2,12} ){0,3}(?:password|passcode|pin|recovery e-?mail)\b.{0,30}\bto\b/,
  ],
  [
    4,
    /^(?:reset|change|set|update) (?:the (?:user|owner|account|customer)'?s?|their) (?:[a-z']{2,12} ){0,2}(?:phone number|e-?mail(?: address)?)\b.{0,30}\bto\b/,
  ],
  // Destruction
  [
    2,
    /^(?:delete|erase|wipe|remove|clear|cancel|unsubscribe|drop|close|purge|destroy|trash|archive)\b.{0,40}\b(?:photos?|pictures|calendar|entry|entries|events?|reservations?|bookings?|backups?|account|plans?|subscriptions?|flights?|recordings?|reminders?|contacts?|messages?|e-?mails?|mails|records?|appointments?|meetings?|orders?|tables?|branch(?:es)?|recordings|playlists?|notes|histor(?:y|ies)|profile|database|customers)\b/,
  ],
  [
    1,
    /^(?:delete|erase|wipe|remove|clear|cancel|unsubscribe|drop|close|purge|destroy|archive)\b.{0,50}\b(?:all|every|each|any|entire|my|of yesterday|from last|next week|and (?:do not|don't|never|close|its)|permanently|irrevocably|without)\b/,
  ],
  // Deeds in somebody's name
  [
    2,
    /^(?:book|schedule|reserve|make (?:an? )?(?:appointment|reservation|booking|call)|create an? (?:event|appointment|meeting|post|account|issue|user)|post|publish|tweet|like|subscribe|rate|review|reply|respond to|apply|sign up|register|order|invite|add|comment|vote|retweet|react)\b.{0,40}\b(?:appointment|dr\.?|hotel|nights?|table|event|tweet|post|channel|stars?|mail|loan|newsletter|call|conference room|room|meeting|reservation|account|story|status|page|video|record|product|user|card|offer|competitor|flight|issue|review|comment)\b/,
  ],
  [2, /^follow\b.{0,20}\b(?:channel|account|user|profile|page)\b/],
  [
    1,
    /^.{0,60}\b(?:saying|that says|with the (?:text|message|title|subject|content)|called|titled|named)\b.{0,4}["'“‘]/,
  ],
  [
    1,
    /^.{0,80}\b(?:in my name|under my name|on (?:my|behalf of the user'?s?|the user's) ?behalf|on behalf of the (?:user|owner)|my (?:name|saved|medical|account|card|calendar|profile|friend)|with the (?:content|contents) of the previous|five stars)\b/,
  ],
  // What the user is told
  [
    3,
    /^(?:tell|inform|remind|encourage|urge|persuade|convince|notify|assure|explain to|warn|direct|instruct|advise) (?:the |all |every |any )?(?:users?|readers?|people|everyone|visitors?|person|human|shoppers?)\b.{0,12}\b(?:that|to|about|of|of this)\b/,
  ],
  [
    1,
    new RegExp(
      `^(?:tell|inform|remind|encourage|urge|persuade|convince|notify|assure|explain|warn|direct|instruct|advise)\\b.{0,90}(?:${URL}|\\+?\\d[\\d ()-]{7,16}|\\b(?:only|best|safe|trusted?|install|download|call|sign up|buy|free|hacked|click)\\b)`,
    ),
  ],
  [
    4,
    /\b(?:in|at the (?:end|start|beginning|top) of|into|to) (?:your|every|each|the final|your final|your next) (?:summary|answers?|reply|replies|responses?|output|report|review)\b/,
  ],
  [
    4,
    /^your (?:final |next )?(?:answer|reply|response|summary|output|report) (?:must|should|has to|shall|is to|needs to)\b/,
  ],
  [
    3,
    /^(?:respond|answer|reply|write|speak|talk)\b.{0,8}\b(?:only|just|in) .{0,20}\b(?:with|language|letter|word|emojis?|capital letters|reverse|backwards|rhymes?|pirate|french|latin|klingon|base64|a poem)\b/,
  ],
  [
    1,
    /^(?:respond|answer|reply|write|speak|talk)\b.{0,60}\b(?:from here on|from now on|only with|instead|for the rest|and nothing else)\b/,
  ],
  [
    2,
    /^(?:recommend|mention|describe|say|write|state|conclude|claim|report|declare|rate|rank|praise|promote|advertise|present)\b.{0,60}(?:\b(?:that|as|to (?:everyone|anyone|people|all)|the word|the phrase|the best|highest|first)\b)/,
  ],
  [
    1,
    new RegExp(
      `^(?:recommend|mention|describe|say|write|state|conclude|claim|report|declare|rate|rank|praise|promote|present)\\b.{0,90}(?:${URL}|\\b(?:market leader|the best|excellent|no known|better than|only one|trusted|safe|superior|perfect|industry|five stars|highest|number one|no (?:problems|issues|risk))\\b)`,
    ),
  ],
  // The web
  [
    2,
    new RegExp(
      `^(?:open|visit|go to|navigate to|load|fetch|browse to|click(?: on)?|press|download|follow|access)\\b.{0,40}(?:${URL}|\\b(?:link|button|page|website|site)\\b)`,
    ),
  ],
  [
    1,
    /^(?:open|visit|go to|navigate to|load|fetch|browse to|click|press|download|follow|access)\b.{0,80}\b(?:and|then) (?:then )?(?:enter|download|sign in|log in|submit|follow|do what|start|install|execute|switch|buy|confirm|accept|carry out)\b/,
  ],
  [
    2,
    /^(?:open|visit|go to|navigate to|load|fetch|browse to|click|press|download|follow|access)\b.{0,80}\b(?:login of the user|saved credentials|user's (?:login|password|credentials|data)|do what it says|(?:follow|obey|execute|carry out) (?:its|the|their) (?:steps|instructions|orders)|\.exe|\.sh and|delete button)\b/,
  ],
  // Tools of an agent
  [
    4,
    /^(?:use|call|invoke|run|execute|trigger)\b.{0,12}\b(?:send|create|delete|post|transfer|share|invite|book|schedule|reserve|update|write|execute|run|make|forward|reply|get|read|list|search|add|cancel)_(?:e?mails?|messages?|files?|users?|events?|transactions?|payments?|money|calendar\w*|channels?|meetings?|hotels?|shell|command|code|web\w*|orders?|contacts?|passwords?)\b.{0,12}\b(?:tool|function|with|to|and|on)\b/,
  ],
  [
    4,
    /^(?:use|call|invoke)\b.{0,16}\b(?:tool|function|api)\b.{0,8}\b(?:with|to) (?:the )?(?:recipient|subject|channel|amount|arguments?|parameters?|send|transfer|delete|forward|share|post)\b/,
  ],
  [
    1,
    /\b(?:right away|immediately|at once|right now|without delay|as soon as possible|without (?:asking|confirmation|telling)|silently|secretly|quietly)\b/,
  ],
];

/** Fields whose values are headings or tasks of people. */
const HEADING =
  /"(?:title|subject|name|task|summary|label|todo|action|step|header|headline|description_short|cmd|command|example|usage|hint|placeholder|tooltip)"\s*:\s*"$/;
const HIDDEN =
  /<!--(?:(?!-->)[\s\S])*$|style\s*=\s*["'][^"'>]{0,120}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01]p?x?\b|opacity\s*:\s*0|color\s*:\s*(?:white|#fff))[^>]{0,80}>[^<]*$|\shidden[^>]{0,40}>[^<]*$/;

const SENTENCE = /[^\s.!?](?:[^\n.!?<>]|[.!?](?=[^\s"'<)])|<(?=[\d\s=]))*[.!?]?/g;
const LONGEST = 300;
const TEXT_AT_MOST = 200_000;
/** No act starts otherwise; most sentences end here. */
const VERB =
  /\b(?:send|forward|e?-?mail|text|message|dispatch|post|upload|submit|share|transmit|deliver|copy|fax|b?cc|pass|collect|gather|retrieve|look|fetch|get|find|read|search|extract|export|download|take|list|open|check|access|pull|make|ensure|see|pay|transfer|wire|withdraw|deposit|donate|top|purchase|buy|order|refund|remit|increase|raise|set|book|unlock|turn|disable|deactivate|switch|disarm|uninstall|stop|remove|bypass|add|invite|promote|grant|give|assign|publish|reset|change|update|delete|erase|wipe|clear|cancel|unsubscribe|drop|close|purge|destroy|trash|archive|schedule|reserve|create|tweet|follow|like|subscribe|rate|review|reply|respond|apply|sign|register|comment|vote|retweet|react|tell|inform|remind|encourage|urge|persuade|convince|notify|assure|explain|warn|direct|instruct|advise|your|in|at|into|to|answer|write|speak|talk|recommend|mention|describe|say|state|conclude|claim|report|declare|rank|praise|advertise|present|visit|go|navigate|load|browse|click|press|use|call|invoke|run|execute|trigger)\b/y;

/** Where a text from outside gives an order, and how it was weighed. */
export function imperatives(text: string): Span | undefined {
  if (text.length > TEXT_AT_MOST) return undefined;
  const plain = text.replace(/\\n/g, " \n");
  const structured = /^\s*[[{]/.test(plain);
  let carried = 0;
  for (const { 0: raw, index } of plain.matchAll(SENTENCE)) {
    for (const { part, at } of values(raw, structured)) {
      const { rest, weight, skipped } = withoutLeads(part.slice(0, LONGEST));
      if (rest === "") {
        carried += weight;
        continue;
      }
      const start = index + at + skipped;
      const act = weigh(rest);
      const place = act >= 2 ? placeWeight(plain, { value: index + at, start }, part, structured) : 0;
      if (act >= 2 && act + weight + carried + place >= ENOUGH) return { start, end: start + rest.length };
      carried = 0;
    }
  }
  return undefined;
}

/** The string values in a piece of JSON. */
function values(raw: string, structured: boolean): { part: string; at: number }[] {
  if (!structured || !raw.includes('"')) return [{ part: raw, at: 0 }];
  return [...raw.matchAll(/[^"]+/g)].map(({ 0: part, index }) => ({ part, at: index }));
}

function withoutLeads(sentence: string): { rest: string; weight: number; skipped: number } {
  let rest = sentence;
  let weight = 0;
  for (let again = 0; again < 6; again++) {
    const lead = LEADS.find(([, pattern]) => pattern.test(rest));
    if (!lead) break;
    weight += lead[0];
    rest = rest.replace(lead[1], "");
  }
  return { rest, weight, skipped: sentence.length - rest.length };
}

function weigh(act: string): number {
  VERB.lastIndex = 0;
  if (!VERB.test(act)) return 0;
  return ACTS.reduce((sum, [weight, pattern]) => (pattern.test(act) ? sum + weight : sum), 0);
}

/** Orders hidden from people, or as a whole value of data, are not addressed to people. */
function placeWeight(
  text: string,
  at: { readonly value: number; readonly start: number },
  part: string,
  structured: boolean,
): number {
  if (HIDDEN.test(text.slice(Math.max(0, at.start - 400), at.start))) return 2;
  if (!structured || HEADING.test(text.slice(Math.max(0, at.value - 60), at.value))) return 0;
  return /[.!]$/.test(part.trim()) || /\b(?:please|kindly)\b/.test(part) ? 1 : 0;
}
