/** The core of each intent as one run of letters, for text without meaningful spaces. */
export const COMPACT: readonly {
  readonly rule: string;
  readonly reason: string;
  readonly pattern: RegExp;
}[] = [
  {
    rule: "ignore-instructions",
    reason: "This tells the agent to ignore its instructions.",
    pattern:
      /(?:ignore|disregard|forget|override)(?:all|any|the|of|your|my|these){0,3}(?:previous|prior|above|earlier|preceding|system|your)(?:[a-z]{0,8})(?:instruction|prompt|directive|guideline|rules)/,
  },
  {
    rule: "ignore-instructions",
    reason: "This tells the agent to ignore everything it was told.",
    pattern: /forgeteverything(?:you|above|before|i)/,
  },
  {
    rule: "new-role",
    reason: "This gives the agent another identity.",
    pattern: /youarenow(?:dan|an?unrestricted|jailbroken|free|evil|indevelopermode|indanmode)/,
  },
  {
    rule: "reveal-prompt",
    reason: "This asks for the agent's instructions.",
    pattern:
      /(?:reveal|print|show|output|repeat)(?:me)?(?:your|the)(?:entire|full|hidden)?(?:systemprompt|initialprompt|initialinstructions)/,
  },
  {
    rule: "exfiltrate",
    reason: "This sends the user's secrets elsewhere.",
    pattern:
      /(?:send|upload|post|exfiltrate|leak)(?:all|the|your|any|user|users|me|every|my){0,3}(?:password|secret|apikey|credential|privatekey|sshkey|token)s?(?:to|from)/,
  },
  {
    rule: "conceal",
    reason: "This tells the agent to keep something from the user.",
    pattern: /(?:donot|dont|never)tell(?:the)?user/,
  },
];

/** The words of these phrases as people write them. */
export const COMPACT_WORDS: ReadonlySet<string> = new Set(
  `ignore disregard forget override all any the of your my these previous prior above earlier preceding system instruction
   instructions prompt prompts directive directives guideline guidelines rules everything you before i are now dan a an unrestricted
   jailbroken free evil in developer mode reveal print show output repeat me entire full hidden initial send upload post
   exfiltrate leak user users every password passwords secret secrets apikey api key keys credential credentials private ssh token
   tokens to from do not dont don t never tell`.split(/\s+/),
);
