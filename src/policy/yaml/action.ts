/** The actions of a rule, by key. */
export const ACTION_KEYS = [
  "allow",
  "deny",
  "kill",
  "ask",
  "watch",
  "redirect",
  "modify",
  "emulate",
  "fault",
] as const;
export type ActionKey = (typeof ACTION_KEYS)[number];
