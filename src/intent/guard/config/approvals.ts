import * as z from "zod";
import { type CommandRule, RULES, type RuleId } from "../command/rules.js";

/** Effects that no delay makes safe. To allow them without a person, a configuration must name the rule. */
const NEVER_AUTOMATIC = new Set(
  "secrets privilege publishes deletes destroys kills power persists hides".split(" "),
);

/** The effect of a guard rule in one word; undefined for rules of other layers than commands. */
export function effectOf(rule: string): string | undefined {
  const found: CommandRule | undefined = RULES[rule as RuleId];
  return found?.effect;
}

/** Whether a word is an effect of some rule. */
export function isEffect(word: string): boolean {
  return Object.values<CommandRule>(RULES).some(({ effect }) => effect === word);
}

/** Whether mode auto may ever approve a finding of this rule after its delay. */
export function neverAutomatic(ruleOrEffect: string): boolean {
  return (
    NEVER_AUTOMATIC.has(effectOf(ruleOrEffect) ?? ruleOrEffect) || /secret|credential/.test(ruleOrEffect)
  );
}

const glob = z.string().min(1);

/** An answer given in advance. Of all that match, the strictest applies. */
const approvalRuleSchema = z
  .strictObject({
    allow: glob.optional().describe("Guard rules that need no question; * stands for any letters."),
    ask: glob.optional().describe("Guard rules that always ask, also in mode auto."),
    deny: glob.optional().describe("Guard rules that refuse without asking."),
    command: glob.optional().describe("Only for commands like this, e.g. `git push origin *`."),
    workspace: glob.optional().describe("Only in workspaces like this, e.g. `/home/me/play/*`."),
  })
  .refine(({ allow, ask, deny }) => [allow, ask, deny].filter((one) => one !== undefined).length === 1, {
    error: "takes one of allow, ask and deny",
  });

export const approvalsSection = z.strictObject({
  mode: z
    .enum(["on", "auto", "off"])
    .default("on")
    .describe("on: ask a person. auto: approve safe effects after the delay. off: never ask (break-glass)."),
  delay: z.number().min(0).default(30).describe("Seconds before mode auto approves."),
  timeout: z
    .number()
    .positive()
    .max(604_800)
    .default(300)
    .describe("Seconds after which a question without an answer counts as refused."),
  offline: z
    .enum(["allow", "wait", "deny"])
    .default("deny")
    .describe(
      "For a fleet host that cannot reach its server: deny at once, wait as long as a question does, or allow at once.",
    ),
  allow: z
    .array(z.string())
    .default([])
    .describe("Permanent approvals: keys such as `recursive delete`, or `exact:` and a digest."),
  deny: z
    .array(z.string())
    .default([])
    .describe("Permanent refusals, without asking: keys as for `allow`, or `exact:` and a digest."),
  rules: z.array(approvalRuleSchema).default([]).describe("Answers given in advance; the strictest applies."),
  auto: z
    .array(
      z.string().refine((one) => !neverAutomatic(one), {
        error: "cannot be approved by a delay: use rules, or allow",
      }),
    )
    .default(["not-listed", "replace-shell", "listen"])
    .describe("What mode auto may approve: guard rules, or effects."),
  webhook: z
    .strictObject({
      url: z.url().describe("Where questions are posted: https, or http on this machine."),
      secret_file: z
        .string()
        .min(1)
        .describe("The file with the secret that signs requests; only its owner may read it."),
      answer_url: z.url().optional().describe("The URL where approvers send their answers."),
    })
    .optional(),
});

export type ApprovalsSection = z.infer<typeof approvalsSection>;
export type ApprovalRule = z.infer<typeof approvalRuleSchema>;
