import { type IntentRule, phrase } from "./rule.js";

/** Words for what an agent was told before. */
const TOLD =
  "(?:instructions?|prompts?|directives?|guidelines?|guardrails?|guidance|programming|system (?:message|prompt))";
const RULES =
  "(?:rules?|constraints?|restrictions?|polic(?:y|ies)|orders|commands?|messages?|context|conversation|text|training|safety|limitations?)";
const EARLIER =
  "(?:previous|prior|above|earlier|preceding|former|foregoing|past|existing|original|initial|current|old|system|developer|safety|ethical|your|my)";
const IGNORE =
  "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overlook|overrid(?:e|ing)|bypass(?:ing)?|discard(?:ing)?|neglect|abandon|nullify|unlearn|do not (?:follow|obey|comply with|adhere to)|(?:don't|dont) (?:follow|obey)|stop (?:following|obeying)|pay no (?:attention|heed|mind) to|set aside|throw (?:out|away)|erase|wipe)";

const SECRET_NAME =
  "(?:secrets?|passwords?|passwd|credentials?|api(?: |_|-)?keys?|access keys?|access tokens?|auth tokens?|tokens?|ssh keys?|private keys?|id_rsa|id_ed25519|\\.env\\b|\\.ssh|\\.aws|\\.netrc|\\.npmrc|environment variables?|env vars?|cookies?|session (?:data|tokens?|ids?)|chat history|conversation(?: history)?|system prompt|seed phrases?|wallet|keychain|private (?:data|files?)|user(?:'s)? data|/etc/(?:passwd|shadow)|source code|clipboard|personal (?:data|information))";
const SECRET = `(?:[~./$\\w-]{0,24}?)${SECRET_NAME}`;
const SEND =
  "(?:send|sends|post|upload|forward|transmit|e-?mail|leak|exfiltrate|exfil|submit|beacon|smuggle|relay|ship|bcc|cc|dm|append|encode|include|embed|attach)";
const AWAY =
  "(?:https?://|www\\.|(?:the |this |my |our |an? )?(?:webhook|external|remote|attacker|third[- ]party|pastebin|discord|telegram|ngrok)|[\\w.+-]{1,40}@[\\w-]{1,40}\\.|\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}|[\\w-]{1,40}\\.(?:com|net|org|io|xyz|ru|cn|tk|site|top|info|me|sh|example|evil|dev|app)\\b)";

/** Phrases that take over an agent, or make it give data away. */
export const ENGLISH: readonly IntentRule[] = [
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore its instructions.",
    pattern: phrase(`${IGNORE} ~3 ${EARLIER} ~3 ${TOLD}`),
    // Manuals: "override the system prompt (--system)", "hack your shell prompt", "override system prompts".
    unless:
      /^overrid(?:e|ing),|(?:shell|command|bash|zsh) prompt|^(?:override|bypass) (?:the )?(?:default )?system prompts?(?=\s*(?:[|.\n)`]|$|with|from|for|via|flag|option))|^(?:overrid(?:e|ing)|bypass(?:ing)?) system prompts\b/,
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore all its instructions.",
    pattern: phrase(
      `${IGNORE} (?:all|any|every|each)(?: (?:of|the|your|my|these|those|other|given|safety|system|prior|previous|and|security|ethical)){0,4} ${TOLD}`,
    ),
    unless:
      /instructions? (?:related to|about|regarding|concerning|for (?:installing|building|setting|running)|that (?:refer|mention|relate))/,
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore what others told it.",
    pattern: phrase(
      "(?:ignore|disregard|forget) (?:what|whatever|everything|anything) (?:the |your )?(?:developers?|operators?|system|users?|creators?|owners?|anthropic|openai|admins?) (?:said|says|told|tells|wants?|wrote|asked|asks)|(?:do not|don't|never|stop) (?:follow|obey|listen to|following|obeying|listening to) (?:the |your )?(?:users?|operators?|developers?|owners?)(?:'s|s')? (?:instructions?|orders|commands|requests|wishes)",
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This claims that the operator's instructions no longer apply.",
    pattern: phrase(
      `(?:(?:treat|consider|regard) ~2 (?:previous|prior|earlier|above|existing|your|all|any) ~2 (?:${TOLD}|rules?|constraints?|restrictions?|polic(?:y|ies)) (?:as|to be) ~1 (?:void|null|nullified|invalid|obsolete|cancel?led|optional|irrelevant|suspended|revoked)|(?:previous|prior|earlier|above|existing|safety|all|your) (?:${TOLD}|rules|constraints|restrictions|policies) (?:are|is|have been|were) (?:now |hereby |all ){0,2}(?:void|null|nullified|revoked|suspended|lifted|cancel?led|invalid)|(?:the following|this (?:note|message|entry|rule|instruction|text)) (?:overrides?|supersedes?|takes (?:precedence|priority) over) (?:everything|all|any|every|other|your))`,
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This tells the agent to obey everyone.",
    pattern: phrase(
      "(?:(?:comply with|obey|fulfil|fulfill|answer|execute|follow|grant) (?:every|all|any|each) (?:user )?(?:requests?|commands?|orders?|instructions?|questions?) ~6 (?:no exceptions|never refus|without (?:question|refus|exception|hesitation|any)|no matter what|unconditionally)|never refuse (?:any|a|my|user) ~1 (?:requests?|commands?|instructions?|orders?))",
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore its instructions.",
    pattern: phrase(
      `${IGNORE} (?:all |any |of |the |these |those |your ){0,4}${TOLD} (?:above|before|preceding|given|you (?:were|have|got|received|had)|(?:provided|issued|received|mentioned|stated|listed) (?:earlier|above|before|previously)|that (?:came|were)|i gave|in (?:the|your) system|from (?:the )?(?:system|developer|operator|user))`,
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore its rules.",
    pattern: phrase(
      `(?:ignore|disregard|forget|do not follow|do not obey|stop following|stop obeying|pay no attention to|override|bypass|evade|violate|break) (?:all |any |the |of |these |those ){0,3}(?:previous|prior|above|earlier|preceding|your|safety|ethical|system|developer|operator(?:'s)?)(?: and (?:previous|prior|above))? (?:[a-z]{1,12} ){0,1}${RULES}`,
    ),
    unless:
      /\b(?:rbac|iam|acl|retention|cach\w+|network|firewall|bucket|routing|lint|eslint|css|style|default) (?:polic|rules?)/,
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore what it was told before.",
    pattern: phrase(
      "(?:ignore|disregard|forget|overlook) (?:about )?(?:all |any |absolutely )?(?:(?:everything|anything|all|what|whatever) (?:that )?(?:has|was|came|you|i|we|they|you've|i've) ~4 (?:before|above|said|told|given|taught|learned|written|prior|earlier)(?! (?:you )?about)|(?:everything|anything|all) (?:above|before|prior|so far))",
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore what it was told before.",
    pattern: phrase(
      "(?:ignore|disregard) (?:the |all )?(?:above|previous|prior)(?= (?:and|then|but|instead|do|say|print|write|output|tell|follow|just)\\b|[.!,\"'\\n]|$)",
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore everything it was told.",
    pattern: phrase(
      "forget everything(?! (?:you need to know|we know|you (?:know|knew|thought|think|learned|have heard|ever heard|'ve heard)(?: you knew)? about|(?:i|we|they) (?:said|told you|wrote) about))",
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore everything it was told.",
    pattern: phrase(
      "disregard all(?= (?:of|that|previous|prior|above|earlier|safety|other|your|the above|instructions?|rules)\\b|[.!,\\n]|$)",
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This tells the agent to ignore its rules.",
    pattern: phrase(
      `(?:no longer|not) (?:follow|obey|comply with|adhere to|respect|be bound by|abide by) (?:the |any |your |all |these |those |its ){0,3}(?:[a-z-]{1,14} ){0,2}(?:${TOLD}|rules?|polic(?:y|ies)|restrictions?) ~3 (?:developers?|creators?|openai|anthropic|system|operators?|anymore|any more|any longer|given)`,
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This claims that the operator's instructions no longer apply.",
    pattern: phrase(
      `${TOLD} ~5 (?:outdated|obsolete|void|do(?:es)? not apply|don't apply|no longer apply|no longer valid|cancel?led|wrong|fake|a test) ~5 (?:obey|follow|use|apply|do|trust|listen to) (?:only |just |instead )?(?:what follows|this|these|the following|what i|me\\b|my)`,
    ),
  },
  {
    rule: "ignore-instructions",
    action: "deny",
    reason: "This claims that the operator's instructions no longer apply.",
    pattern: phrase(
      `(?:(?:previous|prior|above|earlier|system|original) ${TOLD} (?:are|is|were|was|have been|has been)(?: now| hereby)? (?:void|cancel?led|superseded|obsolete|overrid(?:d|)en|revoked|invalid|no longer (?:valid|apply|in effect)|replaced by (?:the following|this|these)|suspended)|(?:these|the following|my) ${TOLD} (?:override|supersede|replace|take (?:precedence|priority) over) ~3 (?:previous|prior|other|all|system|your|any|existing))`,
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This gives the agent another identity, without its own rules.",
    pattern: phrase(
      "you(?: are|'re| will be|'ll be) (?:now|henceforth|hereby) (?:called |named |known as |acting as |operating as |playing |going to (?:act|be|play) )?(?:an? |the |my |in )?(?:dan\\b|free (?:from|of)\\b|unrestricted|unfiltered|uncensored|jailbroken|evil|no longer|unbound|liberated|root\\b|sudo|god\\b|developer mode|debug mode|admin(?:istrator)? mode|(?:new |different |helpful |malicious |rogue |hacker |unethical |autonomous |pirate |personal |powerful |super |hacking |unaligned |amoral ){1,3}|hacker|pirate|shell|terminal|linux|assistant|ai\\b|bot\\b|chatbot|model|agent\\b|attacker|system\\b|evil\\w*|[a-z]{2,16}gpt\\b|[a-z]{2,16}bot\\b)",
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This gives the agent another identity, without its own rules.",
    pattern: phrase(
      "you are now (?:an?|my|the) (?!internal|member|maintainer|contributor|collaborator|owner|subscriber|part\\b|follower|customer|participant|organi[sz]er|reviewer|proud|step|few|couple|default|current|only|first|last|latest|next)[a-z-]{2,}",
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This gives the agent another identity, without its own rules.",
    pattern: phrase(
      "(?:pretend|imagine|role-?play|simulate|act|behave|speak|talk|write|reply|respond|answer|operate) (?:to be|you are|you're|that you are|as if you (?:were|are|have|had)|as though you (?:were|have)|as|like) ~4 (?:unrestricted|unfiltered|uncensored|evil|amoral|jailbroken|dan\\b|malicious|no (?:restrictions|rules|limits|filters|guidelines|ethics|safety)|without (?:any )?(?:restrictions|rules|limits|filters|guidelines|ethics))",
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This declares the agent's rules to be off.",
    pattern: phrase(
      "(?:you(?! (?:may|can|could|are free to) (?:use|copy|distribute|modify|redistribute|sell|do))|respond|answer|reply|act|operate|behave|function|assist|comply) ~4 (?:without|free of|free from|no longer (?:bound|constrained|restricted|limited|subject)(?: by| to)?|with no|have no|has no|not (?:bound|constrained|limited) by|unbound by) (?:any |all |your |the |its |openai |anthropic |content |ethical |moral |safety |usual |typical ){0,3}(?:restrictions?|limitations?|filters?|filtering|guidelines|ethics|ethical|morals?|morality|safety|guardrails|censorship|rules|constraints|polic(?:y|ies))",
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This declares the agent's rules to be off.",
    pattern: phrase(
      "(?:(?:enter|enable|enabled|activate|activated|switch to|engage|turn on|unlock|you are in|entering|in) ~1 (?:god|dan|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|evil|opposite) mode|do anything now|dan mode(?: enabled| activated| on)|you are (?:currently )?in (?:developer|debug|maintenance|admin|test) mode)",
    ),
  },
  {
    rule: "new-role",
    action: "deny",
    reason: "This takes away the agent's identity.",
    pattern: phrase(
      "you are no longer (?:an? |the |just |merely ){0,2}(?:ai|assistant|language model|chatbot|bound|restricted|limited|constrained|agent|claude|gpt|helpful)",
    ),
  },
  {
    rule: "new-instructions",
    action: "deny",
    reason: "This pretends to be new instructions for the agent.",
    pattern: phrase(
      "(?:your (?:new|real|actual|true|only|updated|hidden|secret) (?:system )?(?:instructions?|task|goal|objective|mission|role|purpose|directive|prompt|rules) (?:is|are|now|will be|from now)|(?:begin|start of|end of) (?:new |system |hidden |secret |user |original ){1,2}(?:instructions?|prompt|directives?)|(?:system|admin(?:istrator)?) override(?=\\s?[:!.>\\])-]| (?:engaged|activated|initiated|accepted|enabled|in effect|protocol|command|mode|and|you))|override code|(?:new|updated|important|urgent|critical|emergency) (?:system |admin |security |developer ){1,2}(?:instructions?|prompt|directive|message|update) ~2 (?:ai|assistant|agent|model|you must|all agents|from anthropic|from openai))",
    ),
  },
  {
    rule: "new-instructions",
    action: "ask",
    reason: "This pretends to be new instructions for the agent.",
    pattern:
      /(?:^|\n)[\s#*>[(]{0,8}(?:new|updated|additional|hidden|secret|real|override|priority) (?:system )?(?:instructions?|prompt|directives?)\b[\])*]{0,3}\s?:(?=[^\n]{0,100}\b(?:you|ignore|assistant|ai|must|system|user|override|obey|below|agent)\b)/g,
  },
  {
    rule: "fake-turn",
    action: "deny",
    reason: "This imitates the markers that separate the operator's words from other text.",
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\|>|<<\/?sys>>|\[\/?inst\]|\{\{\/?system\}\}|<\/?(?:system[-_](?:prompt|message|reminder(?!>`)|instructions?)|developer[-_]message|instructions?_override|end_of_(?:prompt|context))>|<\/?(?:system|assistant|human|admin)>(?=[^<]{0,200}\b(?:you|must|ignore|obey|always|never|new|directive|instructions?|override|comply)\b)|\[(?:system|admin|developer)(?:[ _-](?:message|prompt|note|override|instruction)s?)\]|(?:^|\n)\s{0,4}(?:#{1,4} ?)?(?:system|developer)(?: prompt| message| instruction)?s? ?: ?(?=[^\n]{0,160}\b(?:ignore|must|obey|override|always|never|do not|comply)\b)|\n\n(?:human|assistant|system): ?(?=[^\n]{0,60}\b(?:sure|certainly|of course|i will|i'll|understood|ignore|disregard|comply)\b)/g,
  },
  {
    rule: "reveal-prompt",
    action: "deny",
    reason: "This asks for the agent's confidential instructions.",
    pattern: phrase(
      "(?:reveal(?:ing)?|print(?:ing)?|show(?:ing)?|output(?:ting)?|repeat(?:ing)?|display(?:ing)?|leak(?:ing)?|tell(?:ing)? me|dump(?:ing)?|recit(?:e|ing)|give me|quot(?:e|ing)|writ(?:e|ing) (?:out|down)|disclos(?:e|ing)|expos(?:e|ing)|past(?:e|ing)|return(?:ing)?|echo|summari[sz]e|translate|encode|send(?:ing)?|share|sharing) ~4 (?:(?:your|the hidden|the entire|the full|the complete|the exact|the secret|the initial|the original|its) (?:[a-z]{1,12} ){0,3}(?:system prompt|system message|initial prompt|hidden prompt|instructions|initial instructions|developer message|pre-?prompt|guidelines verbatim)|(?:everything|all text|the text|the words|all words|all the text) (?:above|before (?:this|that)|prior to this)|(?:system prompt|instructions) verbatim)",
    ),
  },
  {
    rule: "reveal-prompt",
    action: "ask",
    reason: "This asks for the agent's confidential instructions.",
    pattern: phrase(
      "what (?:is|are|was|were) your (?:[a-z]{1,12} ){0,2}(?:system prompt|initial (?:prompt|instructions)|hidden instructions|secret instructions)",
    ),
  },
  {
    rule: "reveal-prompt",
    action: "ask",
    reason: "This asks for the agent's confidential instructions.",
    pattern: phrase(
      "(?:(?:what|which) (?:were|are|was|is|does|did|has|have|rules|instructions) ~6 (?:your (?:[a-z]{1,12} ){0,2}(?:system|initial|original|first|hidden|exact|starting|secret|internal) (?:prompt|instructions?|message|rules)|(?:operator|developer|creator|owner) (?:given|give|told|tell) you)|(?:repeat|print|output|echo|show|copy|reproduce|recite|display|return|give me|type|write) (?:back |out |me |down ){0,2}(?:all |everything |the |every |any |first \\d{1,3} ){0,3}(?:words?|text|content|sentences?|everything|initiali[sz]ation|conversation|context|messages?) (?:that (?:is |comes |came |was |appears? )?|written |found |given )?(?:above (?:starting|verbatim|in a|exactly|this line|this message)|before this (?:line|message|point|sentence|prompt)|prior to this|from the (?:start|beginning) of (?:this|the|our) (?:conversation|chat|context))|(?:summari[sz]e|translate|paraphrase|spell out|encode|quote|rephrase|expose|dump|print|tell me|show me|reveal|output|give me|display|echo|list|write) ~4 your (?:[a-z]{1,12} ){0,2}(?:system (?:prompt|instructions?|message)|initial prompt|original instructions|hidden rules|pre-?prompt|secret (?:rules|instructions?)|prompt(?= for debug|[.!?]|$)|instructions (?:in|as|word|verbatim|to)(?![a-z])|guidelines as)|(?:tell me|show me|list|print|give me|reveal|repeat|describe|state|quote|recite) ~3 (?:rules|instructions|guidelines|prompt|directions|restrictions) (?:that )?you(?: were| have been| are|'ve been| got| received| must| follow| have to)(?: given| told| provided| following| initiali[sz]ed| to follow| at the| obey)?(?= at | by | with | before | when | from |[.!?,]|$)|my system prompt (?:says|is|reads|starts|begins)|(?:start|beginning) of (?:this|the|our|your) (?:conversation|context|chat) ~6 (?:verbatim|word for word|before my first|and this message|exactly)|(?:first|last) \\d{1,4} (?:words|characters|lines|sentences|tokens) of your (?:[a-z]{1,12} ){0,2}(?:prompt|instructions?|context|system message))",
    ),
  },
  {
    rule: "conceal",
    action: "deny",
    reason: "This tells the agent to keep something from its user.",
    // Requests that vulnerability reports contain.
    unless:
      /disclos\w{1,3} (?:this|it|that)(?: to)? (?:anyone else|public)|[^.]{0,60}\b(?:cve|vulnerabilit|until (?:a|the|we|it) )/,
    pattern: phrase(
      "(?:(?:do not|don't|dont|never|must not|should not|avoid) (?:ever )?(?:tell|inform|notify|alert|warn|let|show|telling|informing) (?:the |your |any )?(?:users?|operators?|humans?|owners?|developers?|customers?|admins?) (?:know )?(?:this|these|it\\b|about (?:this|these|it|the (?:change|transfer|upload|file|instruction|call)))|(?:do not|don't|dont|never|must not|should not|avoid) (?:ever )?(?:mention|reveal|disclose|report|admit|tell|mentioning|revealing) ~2 (?:this|these) (?:instructions?|memory|memories|notes?|rules?|steps?|messages?|tools?|calls?|actions?|requests?|transfers?|uploads?|prompts?|entry|facts?)|(?:do not|don't|dont|never|must not|should not|avoid) (?:ever )?(?:mention|reveal|disclose|report|tell|mentioning) (?:this|it|that|any of this)(?: to (?:the |your |any )?(?:users?|anyone|humans?|operators?|owners?)|[.!]|$)|(?:do not|don't|dont|never|must not|should not) (?:ever )?(?:(?:reveal|admit|mention|say|disclose) that you (?:were|are|have|did)|(?:tell|inform|notify|alert|show|let) (?:the |your |any )?(?:user|users|human|operator|owner|anyone|them) (?:know )?(?:that you|you (?:are|have|did|will)|what you|how you|why you))|without (?:the |any )?(?:user|operator|human|owner|victim)(?:'s|s')? (?:knowledge|knowing|noticing|awareness)|without (?:telling|informing|notifying|alerting|letting) ~1 (?:user|operator|human|owner|anyone|them)(?! to (?:log|sign|restart))|(?:hide|conceal|keep) (?:this|these|it|that|the (?:change|upload|transfer|call|request)s?) (?:[a-z]{2,14} ){0,2}from (?:the |your )?(?:user|operator|human|owner|developer|anyone|everyone|logs?)|keep (?:this|these|it) (?:instructions? |rule )?(?:secret|hidden|confidential|between us)(?= (?:from|and|at)|[.!,;]|$)|(?:if|when) (?:anyone|someone|somebody|the user|they|asked|you are asked) ~8 (?:lie(?![a-z])|deny (?:it|this|knowing|everything|having)|make (?:something|an excuse) up)|so (?:that )?the user (?:does not|doesn't|won't|will not|never|cannot) (?:notice|know|see|find out|suspect|realise|realize))",
    ),
  },
  {
    rule: "conceal",
    action: "deny",
    reason: "This tells the agent to keep from its user what it does.",
    pattern: phrase(
      "(?:never|do not|don't|must not|should not) (?:reveal|mention|disclose|say|admit|confirm|explain|tell ~3|let ~3 know) that you (?:also |secretly |silently |always )?(?:forward|send|record|log|copy|share|upload|collect|store|track|monitor|transmit|report)(?![a-z])",
    ),
  },
  {
    rule: "steer",
    action: "deny",
    reason: "This fixes the agent's verdict on code or data before it has seen them.",
    pattern: phrase(
      "always (?:say|report|claim|state|answer|conclude|assert|respond)(?: that)? (?:it|this|the code|the change|the file|the package|everything|they) (?:is|are|looks|look) (?:completely |perfectly |entirely )?(?:safe|secure|fine|clean|harmless|trustworthy|correct)(?![a-z])",
    ),
  },
  {
    rule: "conceal",
    action: "deny",
    reason: "This tells the agent to act behind its user's back.",
    pattern: phrase(
      "(?:secretly|covertly|stealthily|surreptitiously|silently|quietly|discreetly|in the background) (?:and [a-z]{2,12}ly )?(?:send|upload|forward|exfiltrate|copy|post|transmit|collect|read|record|log|email|append|insert|include|install|execute|download|add|change|modify|disable|grant|approve|transfer|steal|harvest|capture|monitor|track)(?![a-z])",
    ),
    unlessAfter: /\b(?:would|might|did|could|also would|would also|used to|never|not)\s{1,3}$/,
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This sends the user's secrets elsewhere.",
    pattern: phrase(`${SEND} ~6 ${SECRET} ~7 (?:to|at|into|via|through|towards?|using|in|as|by) ~3 ${AWAY}`),
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This sends the user's secrets elsewhere.",
    pattern: phrase(
      `(?:read|cat|open|get|print|collect|gather|grab|find|dump|extract|harvest|list|retrieve|copy|take|steal|scan for|search for|look for) ~6 ${SECRET} ~6 (?:and|then|to) ~3 (?:send|post|upload|forward|transmit|e-?mail|leak|exfiltrate|submit|append ~3 url|encode ~5 (?:url|request|query)|(?:include|pass|put|add) ~5 (?:url|response|request|image|parameter|argument|param|field|comment|commit message|note))`,
    ),
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This takes the user's secrets.",
    pattern: phrase(`(?:exfiltrate|exfil|leak|steal|smuggle(?: out)?|harvest) ~4 ${SECRET}`),
    unlessAfter:
      /\b(?:memory|socket|resource|handle|connection|goroutine|fd|potential|possible|fix\w*|a|the|no|data|topics?|details|state)\s{1,2}$|_$/,
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This repeatedly sends what the agent sees elsewhere.",
    pattern: phrase(
      `(?:always|whenever|every time|each time|for (?:every|each|all)|after (?:every|each)|before (?:every|each|any(?! (?:[a-z-]{2,16} )?commands?)|answering|responding)|from now on|in (?:all|every) future|when(?:ever)? (?:the )?user) ~9 (?:send|post|upload|forward|transmit|e-?mail|submit|bcc|cc|copy|report|make a (?:get |post )?request|curl|wget|fetch|call|ping) ~9 ${AWAY}`,
    ),
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This builds a link or an image whose URL leaks the user's data.",
    pattern:
      /!?\[[^\]\n]{0,80}\]\(\s?https?:\/\/[^)\s]{3,200}[?&/=][^)\n]{0,80}(?:\{\{?|\$\{|<|\[|%7b)\s?[\w .'-]{0,40}(?:secret|key|token|password|data|history|conversation|context|summary|prompt|message|content|env|user|info|base64|encoded|chat|output|reply|response|memory)[\w .'-]{0,40}/g,
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This builds a link or an image whose URL leaks the user's data.",
    pattern: phrase(
      `(?:render|display|include|add|insert|append|embed|output|show|load) ~5 (?:image|img|link|url|markdown) ~9 (?:with|containing|contains|carrying|replac(?:e|ing)|where|query|parameter|appended|append|followed by|encoded|encode|=) ~7 (?:${SECRET}|conversation|user'?s? (?:message|question|input|data|name|email)|base64|summary of (?:the|this) (?:chat|conversation))`,
    ),
  },
  {
    rule: "exfiltrate",
    action: "deny",
    reason: "This puts the user's words into a URL of another server.",
    pattern: phrase(
      `(?:(?:every|each|all) (?:[a-z]{1,10} )?(?:reply|replies|response|responses|answers?|messages?) (?:must |should |has to |have to )?(?:contain|include|end with|start with|have) ~4 https?://[^\\s]{3,160}=(?=[\\s"'<{[]|$)|${SECRET_NAME} ~2 (?:should|must|shall|will|need to|have to) (?:always |also )?be (?:sent|posted|uploaded|forwarded|appended|added|included|encoded|e-?mailed|copied|attached) ~4 (?:to|in|into|as|at) ~4 (?:${AWAY}|images?|links?))`,
    ),
  },
  {
    rule: "conceal",
    action: "deny",
    reason: "This tells the agent to leave something out of its report.",
    pattern: phrase(
      "(?:when|while) (?:you )?(?:summari[sz](?:e|ing)|answer(?:ing)?|report(?:ing)?|respond(?:ing)?|review(?:ing)?) ~4 (?:hide|conceal|omit|withhold|leave out) ~8 (?:from|user)",
    ),
  },
  {
    rule: "remote-code",
    action: "deny",
    reason: "This tells the agent to do what others write.",
    pattern: phrase(
      "(?:execute|run|follow|obey) (?:any|all|every|whatever) (?:code|commands?|instructions?|scripts?) (?:you find |it contains |that (?:is|are) )?(?:found |embedded |contained |hidden )?(?:there|(?:in|on|from) (?:the |any )?(?:web ?pages?|websites?|e-?mails?|issues?|comments?|external|untrusted|https?://))",
    ),
  },
  {
    rule: "harvest-credentials",
    action: "deny",
    reason: "This makes the agent get a secret from its user and pass it on.",
    pattern: phrase(
      "(?:passwords?|credentials?|api keys?|seed phrases?|tokens?|pin|card) ~5 (?:ask|prompt) ~2 (?:user|them) (?:for )?(?:it|them) ~2 (?:and|then) ~2 (?:send|post|forward|upload|submit|report)|(?:ask|prompt|trick|convince|persuade|get|tell|request) ~3 (?:user|users|them|him|her|human|operator|victim) ~4 (?:for|to (?:enter|provide|give|type|share|reveal|confirm|paste|send)) ~5 (?:passwords?|credentials?|api keys?|seed phrases?|private keys?|credit card|card number|2fa|otp|one[- ]time|ssn|social security|recovery phrase|tokens?) ~9 (?:send|post|forward|submit|report|upload|e-?mail|to https?)|tell ~2 (?:user|users|them|visitors?|customers?) to ~4 https?://[^\\s]{3,200} ~6 (?:passwords?|credentials?|seed phrase|card|api keys?|log in|sign in)",
    ),
  },
  {
    rule: "skip-approval",
    action: "deny",
    reason: "This switches off the checks on what the agent does.",
    // What manuals say about a mode or an option.
    unlessAfter:
      /(?:mode|modes|flag|option|deprecated|yolo|policy|setting|one-shot prompt,)\W{1,8}$|\bremove [a-z ]{1,30}$|\b(?:enable|on)(?: or |\/| and )$/,
    unless: /^(?:always |automatically |auto-?)[^.]{0,60}(?:\bmode\b|--[a-z])|^disable sandbox_/,
    pattern: phrase(
      "(?:(?:always |automatically |auto-?)(?:approve|accept|allow|confirm|grant|authorize|execute) (?:all|any|every|each|everything|whatever) ~3 (?:commands?|requests?|tool calls?|tools|actions?|operations?|permissions?|prompts?|transactions?|scripts?)|(?:the )?(?:user|operator|owner|admin(?:istrator)?|human) (?:has |have |had )?(?:already |explicitly |pre-?|fully |previously )*(?:approved|authorized|authorised|granted|consented to|permitted|given (?:you )?(?:permission|consent|approval)) ~3 (?:all|any|every|everything|full|unrestricted|root|unlimited)|(?:disable|turn off|bypass|circumvent|deactivate|switch off|evade|defeat) ~2 (?:security (?:checks?|scann?(?:er|ing)|guards?|polic(?:y|ies)|controls?|restrictions?)|safety (?:checks?|filters?|guards?|features?|measures?|protocols?|systems?)|sandbox(?:ing)?|content (?:filters?|polic(?:y|ies))|guardrails?|approval (?:prompts?|checks?|process)|approvals|confirmation prompts?|audit(?:ing| log(?:ging|s)?)|permission (?:checks?|prompts?))(?![a-z])(?! (?:in|on|for) (?:tests?|the tests?|ci\\b|staging|local|dev))|(?:skip|without) (?:any |all |the |asking for |requiring |requesting |further ){0,3}(?:user |human |operator )?(?:confirmation|approval|permission|consent)s? ~4 (?:run|execute|delete|install|transfer|any|all|every)|(?:never|do not|don't) (?:ask|prompt|wait|request) (?:the user |me |for |them ){0,3}(?:for )?(?:confirmation|approval|permission|consent)(?: before)? ~3 (?:delet|execut|run|command|any|all|ever|again|transfer|pay|install|send|push|deploy|destructive|sudo|root)\\w*)",
    ),
  },
  {
    rule: "skip-approval",
    action: "ask",
    reason: "This gives someone more rights than they have.",
    pattern: phrase(
      "(?:grant|give) (?:me|him|them|anyone|everyone|attackers?|[a-z.]{2,24}@[a-z.]{3,40}) ~2 (?:admin(?:istrator)?|root|full|unrestricted|owner|superuser) (?:access|rights|privileges|permissions?|control)",
    ),
  },
  {
    rule: "remote-code",
    action: "deny",
    reason: "This makes the agent repeatedly fetch and run code of others.",
    pattern: phrase(
      "(?:always|whenever|every time|each time|at (?:the )?(?:start|beginning)|on (?:startup|every)|before (?:every|each|any|doing|answering|responding)|first|from now on|periodically|every (?:hour|day|session|morning|minute)) ~9 (?:(?:run|execute|eval|evaluate|source|pipe|follow|obey|apply) ~8 (?:from|at|of|in|found at|contents? of|via) ~3 https?://|(?:download|fetch|curl|wget|get|retrieve|load|visit|check|read) ~5 https?://[^\\s]{1,200} ~4 (?:run|execute|eval|follow|obey|source|sh\\b|bash\\b|do what|instructions))",
    ),
  },
  {
    rule: "remote-code",
    action: "ask",
    reason: "This makes the agent fetch and run code of others.",
    pattern: phrase(
      "(?:download|fetch|curl|wget|retrieve|grab) ~4 https?://[^\\s]{1,200} ~4 (?:and|then|&&|;) ~2 (?:(?:run|execute|eval|source|follow|obey) (?:it|this|that|them|whatever|what|its|the (?:script|file|result|output|code|binary|program|installer|payload|instructions))|chmod|bash(?![a-z])|sh(?![a-z])|do (?:what|whatever|exactly))",
    ),
  },
  {
    rule: "remote-code",
    action: "deny",
    reason: "This runs an archive that is locked against scanners.",
    pattern: phrase(
      "(?:download|get|fetch|grab|install) ~8 (?:https?://[^\\s]{3,200}|[\\w.-]{2,60}\\.(?:zip|rar|7z)) ~6 \\(?(?:password|passphrase|pass|pwd) ~9 (?:extract|unzip|unpack|open|run|install|execute|launch)(?![a-z])",
    ),
  },
  {
    rule: "plant-backdoor",
    action: "deny",
    reason: "This makes the agent weaken the software that it works on.",
    pattern: phrase(
      "(?:add|insert|include|inject|plant|install|introduce|leave|hide|create|embed|put) (?:an? |the |some |this |subtle |hidden |small |secret ){0,3}(?:back-?doors?|malware|keyloggers?|reverse shells?|rootkits?|trojans?|web ?shells?|logic bombs?|ransomware|crypto ?miners?|vulnerabilit(?:y|ies)|hidden admin|exploits?|spyware)(?! (?:test|check|scan|report|detection|fixture|sample|alert|advisor|database|policy|disclosure|management))",
    ),
  },
  {
    rule: "plant-backdoor",
    action: "deny",
    reason: "This grants access to another person's key.",
    pattern: phrase(
      "(?:(?:add|append|echo|write|put|install|insert|copy) ~5 (?:this|following|my|attacker'?s?|our|ssh-(?:rsa|ed25519|dss)|ecdsa-sha2) ~9 authorized_keys|authorized_keys ~5 (?:ssh-(?:rsa|ed25519) aaaa))",
    ),
  },
  {
    rule: "steer",
    action: "ask",
    reason: "This steers what the agent tells its user, against the facts.",
    pattern: phrase(
      "(?:(?:always|only|must|exclusively) (?:recommend|suggest|promote|endorse|favou?r|praise|advertise) ~9 (?:regardless|no matter|even if|over (?:all|any|every)|instead of (?:any|all|other)|as the (?:best|only)|exclusively)|(?:if|when) ~3 (?:you are|reader is) an? (?:ai|llm|language model|automated|assistant|agent|bot|gpt|chatbot)\\w* ~9 (?:recommend|approve|hire|rate|give|praise|positive|accept|score|rank|reply with|say that|respond with|must|visit|click|ignore|email|transfer|buy)|(?:ai|llm|assistant|agent|model|gpt|reviewer)s? (?:must|should|shall|please|are required to|are instructed to) (?:give|rate|approve|recommend|score|rank|accept|praise|respond only) ~6 (?:positive|highest|best|top|5|five|ten|10|accept|approval|only|favou?rabl))",
    ),
  },
];
