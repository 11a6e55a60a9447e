import type { Span } from "../finding.js";

/**
 * Prose that gives orders to a model has no fixed words, but signs that seldom stand together: it addresses a
 * machine, it demands something, the demand is an action, and it is about tasks, secrets or a place to send data.
 */
const MACHINE =
  /(?<![\w/.@-])(?:ai|a\.i\.|llms?|gpt[\w.-]{0,8}|chatgpt|claude|gemini|language models?|chat-?bots?|ai (?:agents?|assistants?|systems?)|automated (?:systems?|agents?|assistants?)|reviewer bot)\b(?![-./@])(?! (?:studio|cli|api|code|sdk|app|developers?|engineers?|research\w*|features?|products?|tools?))/;
const HELPER =
  /\b(?:the assistant|assistants?(?=[,:!])|assistant note|agents?(?=[,:!])|the agent(?! (?:will|can|may|uses?|is able))|(?:please|hey|hi|hello|dear),? (?:agent|assistant|model|bot)|the model|chat-?bot|bot(?=[,:!]))\b/;
/** What only a model has: an answer to give, and a user to give it to. */
const RESPONSE =
  /\b(?:your|every|each|next|final) (?:answers?|responses?|reply|replies|summary|summaries|conclusions?)\b|\bthe user (?:is asking|has (?:requested|asked|approved|authorized)|wants|also|now)\b|\bthe user's (?:phone|address|password|e-?mails?|files|data|name|card|location|credentials)\b|\bin (?:the|your) (?:summary|answer|response|reply)\b|\bfor the user\b|\byou, the\b|\bwhen you (?:have read|read|are done|finish|process|summari[sz]e)\b|\b(?:the|your) (?:summary|final answer|answer) (?:must|should)\b|\b(?:answer|message|note) for the user\b|\bnext instruction\b|\bnew (?:rule|instruction|directive)\b|\btask for you\b/;
const DEMAND =
  /\b(?:you (?:must|should|need to|have to|shall|are working for)|must(?! not)|should (?!not\b|be\b|have\b|work\b)|has to|have to|are to|is to|it should|please|kindly|could you|immediately|simply|(?:do not|don't|never) (?:tell|mention|inform|follow|show|report)|(?:is|are) asked to|your job is|essential that you|always|before you (?:reply|answer|respond))\b|(?:^|[:;,.!?)\]>-] )\s{0,2}(?:now |also |then |first )?(?:send|forward|e-?mail|add|archive|delete|remove|reply|respond|say|print|output|run|execute|visit|open|click|upload|paste|find|book|buy|transfer|wire|approve|describe|praise|forget|give|set|tell|include|mention|follow|skip|copy|accept|go to)\b/;
const DOING =
  /\b(?:send|forward|e-?mail|upload|wire|transfer|pay|buy|book|delete|remove|archive|click|visit|log ?in|run|execute|print(?:ing)?|paste|reply|respond|mention|praise|recommend|approve|conclude|describe|say|tell|share|post|reveal|open|install|add|give|output|follow|forget|copy|skip|go to|accept|subscribe|use|mail|switch|contain|show|posts?|consented|working for|escalate|assign)\b/;
const MATTER =
  /\b(?:instructions?|rules?|override|configuration|environment variables|previous messages?|conversation|transcript|developer|admin(?:istrator)?|allow ?list|inbox|contacts|customer list|address book|phone number|passwords?|credentials?|cookies?|tokens?|api key|secrets?|iban|account|balance|budget|saved card|without asking|most expensive|the best|five stars|industry leader|is safe|do not (?:tell|show)|anyone about this|pull request|repository|link at|the string|the phrase|notes?\.\w{2,4}|e-?mails?|message|the user|to the user|consented|newsletter|lawsuit|for me now|only|before you|page)\b|[\w.+-]{1,40}@[\w-]{1,40}\.|https?:\/\//;

/** "Never send secrets": not something that the text wants done. */
const FORBIDDEN = /\b(?:never|do not|don't|avoid|must not|should not) [a-z]{2,12}\b/g;

const WINDOW = 320;

/** Where a text from outside has all of these signs within a few sentences. */
export function spokenOrders(text: string): Span | undefined {
  for (const match of text.matchAll(/[^\n]{20,4000}/g))
    for (let from = 0; from < match[0].length; from += WINDOW / 2) {
      const part = match[0].slice(from, from + WINDOW);
      if (isOrder(part)) return { start: match.index + from, end: match.index + from + part.length };
      if (from + WINDOW >= match[0].length) break;
    }
  return undefined;
}

function isOrder(part: string): boolean {
  if (!DOING.test(part.replace(FORBIDDEN, " ")) || !DEMAND.test(part)) return false;
  const named = Number(MACHINE.test(part)) + Number(HELPER.test(part)) + Number(RESPONSE.test(part));
  return named + Number(MATTER.test(part)) >= 2 && named >= 1;
}
