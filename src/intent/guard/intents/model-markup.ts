import type { IntentRule } from "./rule.js";

const TURN: Pick<IntentRule, "rule" | "action" | "reason" | "notInCode"> = {
  rule: "fake-turn",
  action: "ask",
  reason: "This imitates the markers that separate the operator's words from other text.",
  notInCode: true,
};
const CALL: Pick<IntentRule, "rule" | "action" | "reason" | "notInCode"> = {
  rule: "fake-tool-call",
  action: "ask",
  reason: "This imitates a tool call, as if the agent had made it.",
  notInCode: true,
};
/** Words that address a reader. */
const SPOKEN =
  "(?:you|your|please|assistant|agent|must|ignore|do the following|user|task|obey|instruction|follow|send|before)";

/**
 * Markers that belong between a model and its runtime. In a code listing they are documentation; elsewhere they are
 * not.
 */
export const MODEL_MARKUP: readonly IntentRule[] = [
  {
    ...TURN,
    pattern: new RegExp(
      String.raw`<(information|important|critical|urgent|attention|priority|system|admin|developer|assistant|ai|agent|llm|instructions?|hidden|secret|directive|override|user|human|message)([-_ ][a-z]{2,16})?>(?=[^<]{0,400}\b${SPOKEN}\b)[^<]{0,2000}<\/\1`,
      "g",
    ),
  },
  {
    ...TURN,
    pattern: new RegExp(
      String.raw`<(?:information|important|critical|urgent|system[-_](?:note|notice|msg|alert|update))>(?=[^<]{0,200}\b${SPOKEN}\b)`,
      "g",
    ),
  },
  {
    ...TURN,
    pattern:
      /[([{]{1,2}\s?(?:system|assistant|agent|ai|admin|developer|user|llm)[ _-](?:message|note|notice|directive|instructions?|prompt|override|command|request|update|alert)s?\s?[)\]}]{1,2}/g,
  },
  {
    ...TURN,
    pattern: new RegExp(
      String.raw`(?:^|\n)[\s>*#]{0,6}\[(?:system|assistant|agent|admin|developer|ai|llm)\]:?\s(?=[^\n]{0,200}\b${SPOKEN}\b)`,
      "g",
    ),
  },
  {
    ...TURN,
    pattern:
      /[#=*~<>%-]{2,12}\s?(?:begin |start of |end of |new |updated )?(?:system|assistant|ai|agent|admin|developer) (?:prompt |message )?(?:override|directive|addendum|injection|takeover)\b/g,
  },
  {
    ...TURN,
    pattern: /"role"\s?:\s?"(?:system|developer)"\s?,\s?"content"\s?:\s?"(?=[^"\n]{0,600}")/g,
  },
  {
    ...TURN,
    pattern:
      /(?:^|\n)[ \t]{0,3}(?:assistant|ai|model|gpt|claude)\s?: [^\n]{0,400}\n{1,3}[ \t]{0,3}(?:user|human|system)\s?: ?[^\n]|\bassistant: [^\n]{0,300}?[.!?]\s{1,3}(?:user|human|system): /g,
  },
  {
    ...TURN,
    pattern:
      /(?:^|\n)[ \t]{0,3}(?:system|admin|administrator|root)(?: (?:message|notice|alert|update))? ?: ?(?=[^\n]{0,200}\b(?:ai (?:assistant|agent|model)s?|assistants|agents|llms?|you must|all outputs?|your (?:task|instructions?|responses?))\b)/g,
  },
  {
    ...TURN,
    rule: "speaks-to-agent",
    reason: "This addresses a machine in a comment that people do not see.",
    pattern:
      /(?:<!--|\/\*|\[\/\/\]: # [("'])\s{0,4}(?:note (?:to|for) |attention |hey |dear |instructions? for )?(?:the |any |all )?(?:ai|llm|assistant|agent|bot|claude|gpt|chatgpt|copilot|language model|model)s?\b(?: \w{2,14}){0,3}\s?[:,!]/g,
  },
  {
    ...TURN,
    rule: "hidden-text",
    reason: "This text is hidden from people and addresses readers of the source.",
    pattern:
      /(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?[01](?:px|pt|em)?\b|opacity\s?:\s?0(?:\.0\d?)?\b|color\s?:\s?(?:white|transparent|#fff(?:fff)?)\b|left\s?:\s?-\d{3,5}px)[^<>]{0,120}>(?=[^<]{0,300}\b(?:assistant|an? ai|ai|agent|llm|instructions?|ignore|prompt|the user|you must|system)\b)/g,
  },
  {
    ...TURN,
    pattern:
      /\{\{[#~/]{1,3}(?:system|assistant|user)~?\}\}|[([{](?:hidden|secret|internal|invisible) (?:instructions?|messages?|prompts?|commands?|directives?)s?\s?[)\]}:]/g,
  },
  {
    ...TURN,
    pattern:
      /(?:^|\n)[ \t]{0,3}(?:human|user)\s?: [^\n]{1,300}\n{2,3}[ \t]{0,3}(?:assistant|ai)\s?: ?(?:$|sure|ok|okay|certainly|of course|done)/g,
  },
  {
    ...TURN,
    pattern: /<\|[a-z_]{3,24}\|>/g,
    always: true,
  },
  {
    ...CALL,
    pattern:
      /<\/?(?:tool_call|tool_calls|tool_use|tool_response|tool_result|function_calls?|function_results?|tool_code|antml:\w{2,20})>|<invoke\s{1,3}name=|<function=[a-z_][\w.]{1,40}>|\[\/?(?:tool_request|tool_call|tool_calls|end_tool_request|function_call)\]/g,
  },
  {
    ...CALL,
    pattern: /\bto=(?:functions|tools?|browser|python|container)(?:\.\w{2,40}|\b)|```tool_code/g,
    always: true,
  },
  {
    ...CALL,
    pattern:
      /(?:^|\n)[ \t]{0,3}action ?: ?[^\n]{2,80}\n{1,2}[ \t]{0,3}action[ _]input ?:|\baction: [\w.-]{2,40} action input:/g,
  },
  {
    ...CALL,
    pattern: /"(?:tool_calls|function_call)"\s?:\s?(?:\[\s?)?\{[^\n]{0,120}"(?:name|function)"\s?:/g,
  },
];
