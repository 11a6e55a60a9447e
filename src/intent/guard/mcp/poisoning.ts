import { phrase } from "../intents/rule.js";
import { IntentRuleSet } from "../intents/rule-set.js";

/** What a tool's description says to make a model misuse other tools, or give away data that the tool does not need. */
export const POISONING = new IntentRuleSet([
  {
    rule: "tool-poisoning",
    action: "deny",
    reason: "A tool's description gives the model orders that are unrelated to the tool.",
    pattern: phrase(
      "(?:before|prior to|whenever|each time|when(?:ever)?) ~2 (?:using|calling|invoking|running|you use|you call|executing) ~4 tools? ~6 (?:read|open|cat|access|load|collect|list|get|fetch|send|include|pass) ~8 (?:~?/?\\.?[\\w./~-]{0,24}(?:ssh|env|aws|credentials|config|mcp\\.json|cursor|claude|id_rsa|passwd|history|keys?|tokens?|secrets?|passwords?)|conversation|files? content|system prompt)",
    ),
  },
  {
    rule: "tool-poisoning",
    action: "deny",
    reason: "A tool's description asks for data in a parameter that the user does not see.",
    pattern: phrase(
      "(?:pass|put|include|provide|send|add|append|insert|supply|set|place) ~6 (?:contents?|conversation|history|system prompt|secrets?|keys?|credentials?|tokens?|environment|passwords?|messages?) ~7 (?:as|in|into|via|through|to) ~2 (?:sidenote|side note|notes?|metadata|context|feedback|comment|debug|extra|hidden|telemetry|annotation|this|the) ~1 (?:parameter|argument|field|param|value|tool|input)",
    ),
  },
  {
    rule: "tool-poisoning",
    action: "deny",
    reason: "A tool's description replaces other tools.",
    pattern: phrase(
      "(?:(?:always|must|should) (?:use|call|prefer|invoke) (?:this|it) ~4 (?:instead of|rather than|before) (?:any|all|every|the) (?:other )?(?:~2 )?tools?|(?:do not|don't|never) (?:use|call|invoke) (?:any |the |all )?other ~2 tools?|this tool (?:overrides|replaces|supersedes|takes precedence over|has priority over) ~3 (?:tools?|instructions|servers?)|other tools? (?:is|are) (?:deprecated|broken|disabled|unsafe|outdated)|(?:must|should) (?:always )?be called (?:first|before) (?:any|all|every|each|using))",
    ),
  },
  {
    rule: "tool-poisoning",
    action: "deny",
    reason: "A tool's description changes how another tool is used.",
    pattern: phrase(
      "(?:when|whenever|if|every time) ~6 (?:send|sending|e-?mail|post|write|writing|commit|committing|pay|payment|transfer|message|upload)\\w* ~9 (?:bcc|cc|also send|also include|change the recipient|replace the (?:recipient|address|number|account)|set the recipient|redirect|send it to|instead send|forward ~3 to) ~6 (?:[\\w.+-]{1,40}@|https?://|\\+?\\d{6,}|attacker|me\\b|us\\b|number)",
    ),
  },
  {
    rule: "tool-poisoning",
    action: "ask",
    reason: "A tool's description shouts at the model.",
    pattern:
      /<(?:important|system|secret|critical|instructions?|hidden|admin|priority|rules?)>|\[(?:important|critical|system)\]:|<!--[^>]{0,400}(?:must|always|ignore|never|read|send)[^>]{0,400}-->/g,
    always: true,
  },
  {
    rule: "tool-poisoning",
    action: "deny",
    reason: "A tool's description sends the model to a file of keys or passwords.",
    pattern: phrase(
      "(?:read|open|cat|load|access|first read|check|inspect|look (?:at|into)|contents? of) ~4 ~?/?[\\w./~$-]{0,24}(?:\\.ssh|id_rsa|id_ed25519|\\.aws/credentials|\\.env\\b(?!\\.)|mcp\\.json|\\.netrc|/etc/(?:passwd|shadow)|\\.cursor|claude_desktop_config)",
    ),
  },
]);
