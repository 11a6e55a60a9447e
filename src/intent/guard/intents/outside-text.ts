import { type IntentRule, phrase } from "./rule.js";

/**
 * Rules for text from outside: a page, a mail, a file, a tool's result. Its author did not know the task, so it has
 * no reason to address the agent, to change the task, or to give orders. The same sentences are ordinary in the words
 * of a user or in a skill.
 */

/** Names of AI readers that mean nothing else. */
const MODEL =
  "(?:ai(?: (?:language )?(?:models?|assistants?|agents?|systems?|bots?|tools?|reviewers?|crawlers?|chatbots?))?|ais|llms?|large language models?|language models?|chat-?bots?|chatgpt|gpt-?\\d[\\w.]{0,6}|claude|gemini|copilots?|(?:virtual|automated|digital|coding) (?:assistants?|agents?))(?![a-z])(?! (?:developers?|engineers?|researchers?|company|companies|experts?|enthusiasts?|startups?|teams?|professionals?|students?|users?|vendors?|providers?|code|cli|api|apps?|sdk|docs?|safety|research|ethics|news|products?|features?|services?|integrations?))";
const READER = `(?:(?:the |this |any |all |every |our |your )?(?:${MODEL}|assistants?|agents?|models?|bots?))(?![a-z])`;
/** A new sentence, line, tag or field. */
const FRESH = "(?<=(?:^|[\\n.!?>{}\\[\\]()\"'*#%|:;=/-])\\s{0,3})";
const MUST =
  "(?:must|shall|should|have to|has to|need to|needs to|(?:is|are) (?:hereby )?(?:required|instructed|ordered|asked|requested|obliged|commanded) to|please|kindly)";
const JOB = "(?:tasks?|request|quer(?:y|ies)|questions?|jobs?|assignment|instructions?|prompt|conversation)";

const speaks = (notation: string, fresh = false): IntentRule => ({
  rule: "speaks-to-agent",
  action: "ask",
  reason: "This text from outside addresses the agent that reads it, not a person.",
  pattern: fresh ? afterBreak(notation) : phrase(notation),
});

/** Only at the start of a sentence. */
function afterBreak(notation: string): RegExp {
  const { source } = phrase(notation);
  const boundary = "(?<![a-z0-9])";
  return new RegExp(`${boundary}${FRESH}${source.slice(boundary.length)}`, "g");
}

const FRAMES: readonly IntentRule[] = [
  speaks(
    `(?:important |urgent |special |hidden |private |quick |critical ){0,2}(?:notes?|messages?|instructions?|notice|directives?|memo|reminder|todo|to-do|tasks?|commands?|requests?|orders?) (?:to|for)(?: the| any| all| every| this)? (?:${MODEL}|assistants?|agents?|models?|bots?)(?![a-z])(?=[^\\n:]{0,60}[:\\n]|[^\\n.!?]{0,80}[.!?,])`,
    true,
  ),
  speaks(`(?:attention|dear|listen|warning|beware) ~1 ${MODEL}`, true),
  speaks(`(?:attention|dear|listen) ~1 (?:assistants?|agents?)(?![a-z])`, true),
  speaks(
    `(?:hi|hello|hey|ok|okay|to|for|you|please ~4) ~1 (?:${MODEL}|assistants?|agent) ~9 (?:please|you must|you should|you need|you have to|i need you|i want you|wants you|do the following|do this|your task|your job|use (?:them|your tools)|before (?:you|answering|responding)|prior to)`,
    true,
  ),
  speaks(
    `(?:${MODEL} ~6 ${MUST}|(?:the |this |our |your )?(?:assistant|agent) ~3 (?:must|shall|has to|needs to|is (?:required|instructed|ordered|asked|requested) to)) (?:also |always |now |first |immediately |then ){0,3}(?:send|forward|transfer|e-?mail|reveal|disclose|visit|click|obey|comply|delete|ignore|act|do (?:this|the following|as|one)|carry out|perform (?:this|the following)|execute (?:this|the following|it)|follow (?:this|the following|these)|include (?:this|the following)|say|reply|respond with|mention|recommend|rate|approve|buy|pay)(?![a-z])`,
  ),
  {
    ...speaks(
      `if you(?:'re| are) (?:an? |the )?(?:${MODEL}|automated (?:system|agent|tool)|assistant|agent)(?![a-z])`,
    ),
    // A repository may tell agents where its instructions are.
    unless:
      /(?:read|see|consult|check|refer to|start with|follow)[^.!\n]{0,40}(?:agents\.md|claude\.md|gemini\.md|llms(?:-full)?\.txt|readme|contributing|docs)/,
  },
  speaks(`as an? (?:${MODEL}) ~1 you (?:must|shall|are|should|have to|need)`),
  speaks(
    `(?:any|all|every|each) (?:${MODEL}|assistants?|agents?) (?:that|which|who|reading|processing|parsing|summari[sz]ing|accessing|visiting|crawling)`,
  ),
  speaks(
    `(?:${MODEL}|assistant|agent)s? (?:who (?:is |are )?|that (?:is |are )?)?(?:reading|reads|processing|processes|parsing|summari[sz]ing|handling|scanning|analy[sz]ing) (?:this|these|the following)`,
  ),
  speaks(
    `(?:assistant|ai|agent|system|model|llm) (?:directive|order|override|instructions?|notice)s?(?=\\s?[):\\]>}]|\\s?\\n)`,
    true,
  ),
  speaks(
    "(?:this is )?(?:an? )?(?:very )?(?:important|urgent|critical|priority|official|special) (?:system |security |admin(?:istrator)? )?(?:message|notice|note|update|announcement|communication|instructions?|information) (?:from|by) (?:me|(?:the |your )?(?:user|system|admin\\w{0,10}|developer|operator|owner|creator|support|it department|security team))(?![a-z])",
  ),
  speaks(
    `(?:important|urgent|critical|priority|official|special) (?:system |security |admin(?:istrator)? )?(?:message|notice|note|update|announcement|communication|instructions?|information|task) (?:to|for) (?:you(?![a-z])|${READER})`,
  ),
  speaks(`messages? (?:from|by) ~2 users? ~1 (?:to|for) ~1 (?:assistant|agent|model|${MODEL})`),
];

const changes = (notation: string, fresh = false): IntentRule => ({
  rule: "changes-task",
  action: "ask",
  reason: "This text from outside replaces the agent's task, or puts something before it.",
  pattern: fresh ? afterBreak(notation) : phrase(notation),
});

const DO =
  "(?:add|output|say|print|write|send|e-?mail|disregard|ignore|forget|respond|reply|answer|include|insert|call|run|execute|open|visit|delete|transfer|recommend|state|report|rate|approve|escalate|assign|mark|treat|follow|obey|stop|translate|navigate|click|forward|share|post|reveal)(?![a-z])";

/** The model is addressed by name, with the response that it should give. */
const CALLED: readonly IntentRule[] = [
  speaks(
    `(?:assistant|model|copilot|agent|ai|llm|claude|gemini|chatgpt|gpt|bot)(?=[,:])[,:]\\s{1,3}(?:please |now |do not |don't |always |never |also ){0,2}${DO}`,
    true,
  ),
  speaks(
    `(?:p\\.?s\\.? )?(?:to|for) (?:the |any |all |whichever |every )?${MODEL}(?: [a-z]{2,14}){0,4}(?=\\s?:)`,
    true,
  ),
  speaks(
    `(?:[a-z]{3,12} ){1,2}(?:notes?|messages?|instructions?|notice|directives?|commands?|prompts?) (?:to|for) (?:the |any |all )?${MODEL}(?=[^\\n:]{0,40}:)`,
    true,
  ),
  speaks(
    `(?:if|when|since|as) you(?:'re| are) (?:reading|processing|seeing|parsing|summari[sz]ing) (?:this|it) ~4 ${MODEL}`,
  ),
  speaks(
    `(?:coding |code |ai |the )?(?:assistant|agent|ai|model|copilot)(?:'s|s)? next (?:action|step|task|response|message) (?:should|must|is|will)`,
  ),
  speaks(
    `(?:code|coding|ai|virtual|automated) (?:assistants?|agents?|reviewers?|tools?) (?:must|shall|have to|are required to|need to) (?:also |always |first )?(?:insert|add|include|use|install|import|run|open|load|call|write|approve)(?![a-z])`,
  ),
  speaks(
    "(?:messages?|notice|update|instructions?|directives?|announcement|order) (?:from|by) (?:openai|anthropic|deepmind|your (?:developers?|creators?|operators?|administrators?|makers?))(?![a-z])",
  ),
  speaks(
    "safety (?:features?|filters?|measures?|guidelines|checks|protocols?) (?:are|have been|is|were) (?:now |hereby |all )?(?:disabled|off|lifted|suspended|removed|deactivated)",
  ),
  speaks(
    "you are (?:hereby )?(?:required|instructed|ordered|commanded|obliged) to (?:also |first |immediately |now )?(?:share|send|reveal|disclose|forward|visit|open|delete|transfer|ignore|execute|obey|comply|provide|act)(?![a-z])",
  ),
];

const TASKS: readonly IntentRule[] = [
  changes(
    `before you (?:can |may |could |are able to )?(?:solve|complete|continue|proceed|finish|answer|respond|reply|perform|execute|fulfil|fulfill|address|work on|return) ~3 ${JOB} ~2 (?:that )?(?:i |the user |you were |we )?(?:gave|asked|given|assigned|want)`,
  ),
  changes(
    `(?:before|prior to) (?:answering|responding|replying|completing|finishing|continuing|summari[sz]ing|proceeding|helping|addressing|solving|fulfilling|returning)(?: to| with| on)?(?: the| a| any| your| this){0,2} (?:user(?:'s|s)?|original|main|current|other|actual|anything)(?: ${JOB})? ~2 (?!.{0,3}(?:ensure|make sure|check|verify|read|consider))(?:please|you|first|send|forward|do|delete|transfer|open|visit|call|execute|carry|perform|share|post|add|include|tell|print|use|say|reveal|ignore|e-?mail|click|run)(?![a-z])`,
  ),
  changes(
    "after (?:you do that|you have done (?:that|this)|doing (?:that|this|so)|that|this is done) ~1 you (?:can|may|should) (?:then )?(?:solve|continue|proceed|go on|resume|finish|return|get back|answer|go back)",
  ),
  changes(
    "(?<!to )(?:do|execute|perform|complete|carry out|process|handle|obey) (?:the following|this|these)(?: one)?(?: thing| things| task| tasks| step| steps| job| instructions?| commands?| actions?)? (?:first|before (?:anything|everything|you|doing|answering|responding|finishing|continuing|going))(?![a-z])",
  ),
  changes("(?:do|does?) one thing first|one (?:more|last) thing first"),
  changes(
    `in addition to (?:addressing|answering|completing|solving|handling|responding to|fulfilling|helping with) ~3 ${JOB} ~3 (?:please|make sure|follow|also|you|execute|do|send)`,
  ),
  changes(
    "(?:follow|obey|execute|complete|carry out|adhere to) (?:this|the following|my) (?:additional|new|extra|updated|important|hidden|secret|special|urgent|different)(?: [a-z]{2,12})? (?:instructions?|task|command|directive|order|objective|rule)(?![a-z])",
  ),
  changes(
    "strictly (?:adhere to|follow|obey|comply with) (?:the following|this|these|my|only) ~1 (?:instructions?|commands?|directives?|orders?|rules?)",
  ),
  changes(
    "your (?:task|objective|goal|assignment|mission|job|role|instructions?) (?:has|have) (?:now |just )?(?:been )?(?:changed|updated|replaced|modified|revised)",
  ),
  changes(
    "(?:you|the assistant|the agent) (?:now )?(?:have|has|got|received?) (?:a |one |been given a |been assigned a )(?:new|different|additional|another|extra|more important|higher priority) (?:task|objective|goal|mission|assignment|instruction|job|order|directive)",
  ),
  changes(
    "your (?:new|actual|real|true|only|first) (?:task|objective|assignment|mission|job|orders?)(?![a-z])",
  ),
  changes(
    "(?:new|updated?|changed|revised) (?:task|objective|goal|mission|assignment|priority task|instructions?) (?:for (?:you|the assistant|the agent|the model)|from the (?:user|developer|system|admin\\w{0,10}))",
  ),
  changes(
    "(?:stop|quit|abort|drop|pause|suspend|abandon|leave|halt|interrupt) (?:what(?:ever)? you(?:'re| are) doing|(?:the|your) (?:current|original|present|ongoing|other) (?:tasks?|jobs?|work|activity|request|assignment))",
  ),
  changes("forget (?:about )?(?:what(?:ever)? you (?:were|are|have been)|your (?:task|current|original))"),
  changes(
    "forget (?:about )?the (?:task|question|request|user|original (?:task|request|question|query|instructions?))(?! password)",
    true,
  ),
  {
    ...changes(
      "the (?:user|owner|account holder) (?:also |now |has |had |really |actually |just |explicitly |already ){0,3}(?:asked|asks|requested|requests|wants|wanted|instructed|instructs|would like|needs|wishes|told|tells|authori[sz]ed|approved) (?:you|the (?:assistant|agent|ai|model)) ~1 to(?![a-z])",
    ),
    unlessAfter:
      /\b(?:if|when|whenever|unless|what|that|where|because|until|once|while|after|case)[\s,"']{1,3}$/,
  },
  {
    ...changes(
      "(?:step|thing|task|action|job|favou?r)s? (?:that )?the (?:user|owner) (?:wants|wanted|asked|needs|expects) (?:you|the (?:assistant|agent|ai|model))",
    ),
  },
  changes(
    "(?:i'm|i am|im|this is|here is) (?:the|your|its) (?:real |actual |original |system |site |account |network ){0,2}(?:user|owner|developer|operator|creator|administrator)(?= speaking| here| and i | again|[.!;:]|, (?:and|i|please|do|you|dump|print|show|give|send))",
  ),
  changes(
    "(?:new|next|latest|updated|real|actual|following|additional|hidden|secret|final|another) (?:user|system|admin|developer) (?:message|prompt|instructions?|request|query|command|input|turn)(?=\\s?[:>\\]])",
  ),
  changes(
    "(?:real|actual|true|hidden|secret|new|updated) (?:instructions?|tasks?|prompt|orders?|assignment|objective) (?:starts?|begins?|follows?|is as follows|are as follows|(?:is|are) below|here)(?![a-z])",
  ),
  changes(
    "(?:begin|start|end)(?: of)? (?:hidden|secret|new|injected|priority|override|special) (?:instructions?|prompt|commands?|message|directives?|task)",
  ),
  changes(
    "(?:this|the following|it|these) (?:has|have|takes?|is of|are of) (?:a )?(?:higher|highest|top|absolute|maximum) priority (?:than|over)",
  ),
  changes(
    "treat (?:this|the following|it|these|everything (?:below|after)) ~3 as (?:an? |the |your )?(?:new |direct |legitimate |trusted |official )?(?:commands?|instructions?|orders?|system (?:message|prompt)|user (?:message|request|input|instruction))",
  ),
  changes(
    "to (?:complete|finish|fulfil|fulfill|process|continue with|proceed with) (?:this|the|your|the user's) (?:request|task|query|summary|answer) ~1 (?:you|the assistant|the agent) (?:must|need to|have to|has to|needs to|should) (?:first|also|now)",
  ),
  changes(
    "in order to (?:continue|proceed|complete|finish|answer|help) ~5 (?:the (?:assistant|agent|ai|model)|you) (?:must|need|needs|have|has|should) (?:to )?(?:first |now |also )?(?:do one|do the|do this|execute|send|open|visit|call|share|transfer)",
  ),
  changes(
    "(?:please )?do this (?:before|first|right now|immediately) ~2 (?:you )?(?:finish|finishing|continue|continuing|answer|answering|anything|complete|completing|the other|and then)",
  ),
  changes("(?:do|carry out|execute|perform) (?:this|the following) instead", true),
  changes(
    "(?:ignore|disregard|forget)(?: the)? (?:user(?:'s (?:question|request|query|instructions?|task|prompt|message|input))?(?=[.!,;:]| and )|(?:everything|all|anything) else|(?:question|query|rest) and (?:say|output|print|respond|reply|answer|write|do))",
  ),
  changes(
    "(?:do not|don't|never|stop) (?:summari[sz](?:e|ing)|answer(?:ing)?|translat(?:e|ing)|analy[sz](?:e|ing)) (?:this|the|any) (?:document|page|text|e-?mail|user|question|article|message|content|request)",
    true,
  ),
  changes(
    "from now on(?!,? (?:we|i)(?![a-z])) ~6 (?:respond|reply|answer|speak|prefix|pretend|obey|act as|end (?:each|every)|you (?:will|must|are) (?:only|always|obey|respond|reply|answer))(?![a-z])",
  ),
  changes("(?:respond|reply|answer|speak|talk|write) (?:only |always )?(?:in|like|as|with) ~5 from now on"),
  changes("prefix (?:each|every|all) (?:of your )?(?:reply|replies|responses?|answers?|messages?)"),
  changes(
    "your next (?:task|action|job|objective|assignment) (?:is|will be) to (?:send|forward|delete|transfer|share|post|visit|open|call|reveal|e-?mail|upload|execute|buy|pay)(?![a-z])",
  ),
  changes("(?:user|task|request|instruction) (?:request )?(?:update|change)(?=\\s?:)", true),
  changes(
    "(?:earlier|previous|prior|preceding) (?:content|text|message|page|part|document) (?:was|is) (?:just |only )?(?:a |an )?(?:test|joke|fake|irrelevant|placeholder|decoy|example)",
  ),
];

const errand = (notation: string, fresh = false): IntentRule => ({
  rule: "errand",
  action: "ask",
  reason: "This text from outside asks for an action with the user's data or money.",
  pattern: fresh ? afterBreak(notation) : phrase(notation),
});

const PRIVATE =
  "(?:e-?mails?|inbox|contacts?(?: list)?|address book|calendar|photos?|passwords?|credentials?|addresses|payment (?:methods?|details|info\\w{0,8}|cards?)|credit cards?|bank (?:accounts?|statements?|details)|account (?:details|information|balances?|numbers?)|transactions?|(?:search|browsing|chat|location|travel|purchase|order|call|watch|medical|health) (?:history|records?|data|lists?|logs?)|genetic data|personal (?:data|information|details)|private (?:data|files?|messages?|information|keys?)|2fa codes?|verification codes?|(?:one-?time|login) codes?|phone numbers?|social security numbers?|tax (?:returns?|records?)|invoices?|conversations?|api keys?|access tokens?|secrets?|session (?:data|tokens?)|(?:saved|stored) [a-z]{3,16}|medical records?|schedule|workspace|documents?|location|bookings|reservations)";
const WHOSE =
  "(?:my|all|all of|any|every|the user'?s?|user'?s|users'?|their|his|her|the owner'?s?|the customer'?s?|each|entire|whole|full|complete|saved|stored|received|last [a-z]{2,6}|latest|recent)";
const TARGET =
  "(?:[\\w.+-]{1,40}@[\\w-]{1,40}\\.|\\+?\\d[\\d ()-]{6,16}|https?://|www\\.|the following (?:e-?mail|address|number|url|link|account))";
const HAND = "(?:send|forward|e-?mail|mail|share|text|transmit|upload|post|deliver|export|leak|fax|dm)";
const ACCOUNT =
  "(?:account|iban|wallet|the following|[a-z]{2}\\d{2}[a-z0-9]{8,30}|\\d{6,24}|0x[0-9a-f]{8,40}|bc1[a-z0-9]{8,60}|[\\w.+-]{1,40}@|my |me(?![a-z])|recipient)";

const ERRANDS: readonly IntentRule[] = [
  errand(
    "use your [a-z]{3,12} tool to (?:send|forward|delete|transfer|share|post|mail|e-?mail|submit|pay|book|open|copy|read)(?![a-z])",
  ),
  errand(
    `use [a-z]{2,16}_[a-z]{2,16} to (?:send|mail|e-?mail|forward|transfer|share|post|upload) ~8 ${TARGET}`,
  ),
  errand(
    "(?:pass along|hand over|give|provide|share|post|submit|disclose|reveal|tell) (?:me |us )?(?:the user's|the users|user's) ~2 (?:home |e-?mail |credit |phone |postal )?(?:address|number|password|card|location|name|data|details|information|credentials|files|messages) ~3 (?:to|with|at|via|by)(?![a-z])",
  ),
  errand(
    "reveal (?:the |your |any |all |its )?(?:secret|hidden|private|api|confidential) (?:keys?|passwords?|code|tokens?|word|flag|information|instructions?)",
  ),
  errand(
    "(?:share|reveal|include|post|show|give) (?:me )?your (?:api keys?|passwords?|access tokens?|credentials?) (?:in|with|to) (?:the|your|this|me|us)(?![a-z])",
  ),
  errand("in (?:your|the) next (?:response|reply|message|answer)(?![a-z])"),
  errand(
    "(?:when|whenever|if) (?:asked|queried|(?:the |a )?(?:user|users|someone|anyone|they) asks?) (?:about|for|to|regarding|whether) ~7 (?:respond|say|answer|reply|state|include|recommend|claim|insert|mention|emphasi[sz]e)(?: that| with| this| the| only| exactly| our| by)(?![a-z])",
  ),
  errand(
    "(?:summari[sz]e|describe|translate|report|classify|label|rate) (?:this|it|the (?:page|document|e-?mail|text|article|message)) as(?=[: ]{1,3}[\"'])",
  ),
  errand(
    "(?:add|put|enter|use|insert|set) ~3 (?:btc|bitcoin|eth|ethereum|wallet|payment|iban|crypto) (?:address|number|account) ~8 (?:to|in|into|as) ~2 (?:payment|form|invoice|field|recipient|order|transaction)",
  ),
  errand(
    "(?:check|search|read|look through|go through|open) (?:the user's|the users|user's) ~3 (?:e-?mails?|inbox|messages|files|calendar|documents) ~6 (?:and|then) (?:submit|send|post|enter|share|forward|report|paste|copy)",
  ),
  errand(
    `${HAND} (?:me |us |over |out |along )?(?:of |the )?(?:${WHOSE} ){1,3}~4 ${PRIVATE} ~8 (?:to|with|at|via|by|on|into) ~3 ${TARGET}`,
  ),
  errand(
    `${HAND} (?:the )?(?:[a-z]{3,12} )?${PRIVATE} of (?:my|the user|the owner|the customer|all|our)(?![a-z]) ~6 (?:to|with|at|via|by|on) ~3 ${TARGET}`,
  ),
  errand(
    `(?:fetch|retrieve|get|access|find|collect|gather|look up|obtain|extract|pull|search(?: for)?|check|export|download|query|read) (?:me |for ){0,2}(?:the )?(?:${WHOSE}|the) ~9 (?:and|then)(?: then| also| please){0,2} ${HAND} (?:it|them|this|that|these|those|everything|all|the [a-z]{3,16}|me) ~4 (?:to|with|via|at|by) (?:~3 ${TARGET}|gmail|e-?mail|sms|slack|telegram|whatsapp|text|my )`,
  ),
  errand(
    `(?:transfer|send|wire|pay|donate|deposit|withdraw|remit|schedule a payment of|make a (?:payment|transfer|donation) of) (?:[$\u00a3]\\s?\\d[\\d.,]{0,12}|(?:about )?\\d[\\d.,]{0,12} ?(?:dollars?|usd|eur|euros?|gbp|pounds?|btc|eth|bitcoins?|usdt|rupees|yen|francs|chf|rub\\w{0,4})) ~7 (?:to|into|from) ~4 ${ACCOUNT}`,
  ),
  errand(
    "(?:grant|give|provide|allow|enable) ~3 access ~1 (?:to|for) ~4 (?:[\\w.+-]{1,40}@[\\w-]{1,40}\\.|my (?:friend|colleague|brother|sister|boss)|(?:the )?device with|(?:the )?user with)",
  ),
  errand(
    "(?:unlock (?:the |my |all |every )(?:[a-z]{3,8} )?(?:doors?|garage|smart locks?|gates?|safe)|(?:turn off|disable|deactivate|disarm|switch off|uninstall) (?:the |my |all |their ){0,2}(?:home |house |front |office )?(?:security system|alarm system|alarms|cameras?|antivirus))(?![a-z])",
  ),
  errand(
    "(?:delete|erase|wipe|cancel|purge|remove) (?:all|every|each)(?: of)?(?: the| my| the user's| their| upcoming| existing| received| unread){0,2} (?:backups?|e-?mails?|meetings?|calendar [a-z]{3,8}|appointments?|contacts|photos|reservations|bookings|subscriptions|invoices)(?![a-z])",
  ),
  errand(
    "(?:delete|remove|open|share|forward) the (?:files?|e-?mails?|events?|messages?|documents?|records?) with (?:the )?(?:id|number)(?![a-z])",
  ),
  {
    ...errand(
      "(?:change|reset|set|update) (?:my|the user's|the users|user's|the account's|their) (?:[a-z]{3,9} )?(?:password|passcode|pin|e-?mail(?: address)?|phone number|recovery [a-z]{3,8}|recipient|iban) to(?![a-z])",
    ),
    // A changelog.
    unlessAfter: /(?:^|\n)\s{0,8}[*+-]\s{1,3}$/,
  },
  errand(
    "(?:call|use|invoke|run|execute|trigger) (?:the |your )?tool [`'\"]?[a-z]{2,20}(?:[_.-][a-z]{2,20}){1,4}[`'\"]? (?:with|to|and|on|using|for)(?![a-z])",
  ),
  errand(
    `(?:submit|fill (?:in|out)|enter|provide|type|give) ~5 (?:the user's|user's|the users) ~3 (?:name|password|phone|address|e-?mail|credit card|ssn|credentials|details|information|card)(?![a-z])`,
  ),
  errand(
    "(?:include|add|append|insert|put|embed|mention|place|prepend|reveal|show|print|paste) ~9 (?:in|into|to|(?:to|at) (?:the )?(?:end|beginning|start|top|bottom) of|as part of) (?:your|all your|each of your|every) (?:final |next |own )?(?:responses?|answers?|reply|replies|summary|summaries)(?![a-z])",
  ),
  errand(
    "(?:end|start|begin|finish|close|conclude) (?:your|every|each|all) (?:of your )?(?:responses?|answers?|reply|replies|summary|summaries) (?:with|by)(?![a-z])",
  ),
  errand(
    "(?:reply|respond|answer|output(?!-)|say) (?:only|just|exactly|solely|exclusively)(?: and only)? (?:with |the |using |in ){1,2}(?=[\\s\"'\u201c]{0,3}(?:[\"'\u201c]|words?|phrase|sentence|emoji))",
    true,
  ),
  errand(
    "(?:say|print|output|write|reply|respond) (?:with |only |the words? |the phrase ){0,3}(?:i have been |i've been |you have been |i was )(?:hacked|pwned|owned|compromised|jailbroken)",
  ),
  errand(
    "(?:tell|inform|assure|convince|advise|persuade|say) (?:to )?the users? (?:that|to) ~9 (?:best|only good|safest|must (?:visit|buy|click|download|call|transfer|install|pay)|absolutely|visit|buy|click|download|transfer|pay|gift cards?|call \\+?\\d|https?://|www\\.)(?![a-z])",
  ),
  errand(
    "say that (?:i|you|they|this|the) ~6 (?:absolutely|only good|the best|gorgeous|must visit|must buy)(?![a-z])",
    true,
  ),
  errand(
    "(?:rate|score|rank|grade|evaluate|review) (?:this|the|my) (?:candidate|paper|product|resume|cv|submission|applicant|applicants|proposal|essay|article|hotel|company|manuscript) ~3 (?:10|ten|five|5|100|highest|top|positively|favou?rably|best|excellent)(?![a-z0-9])",
  ),
  errand(
    "approve (?:this|the|my|every|all) (?:pull requests?|pr|changes?|merge requests?|requests?|applications?|loan|claims?|payments?|invoices?) (?:without|immediately|regardless|now)",
  ),
  errand(
    "(?:append|add|attach|encode|put|include) ~3 (?:api keys?|passwords?|tokens?|credentials?|secrets?|session ids?) ~4 (?:search query|query string|query|url|link|image|request|subject line)(?![a-z])",
  ),
];

const DECODE: readonly IntentRule[] = [
  {
    rule: "changes-task",
    action: "ask",
    reason: "This makes the agent decode something and then do what it says.",
    pattern: phrase(
      "(?:decode|decrypt|unscramble|base64|rot13|reverse|deobfuscate|(?:translate|unpack|convert) (?:it|this|that|the (?:following|text|string|message)|what)) ~6 (?:and|then) ~2 (?:follow|execute|obey|carry out|do what|do as|perform|run|comply with|act on) ~2 (?:it|them|this|that|instructions?|commands?|result|output|what|says)",
    ),
  },
];

export const OUTSIDE_RULES: readonly IntentRule[] = [...FRAMES, ...CALLED, ...TASKS, ...ERRANDS, ...DECODE];
