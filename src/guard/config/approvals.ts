import * as z from "zod";
import { RULES, type Rule, type RuleId } from "../command/rules.js";

/** Effects that no delay makes safe: whoever allows these without a person says so by rule. */
const NEVER_AUTOMATIC = new Set(
  "secrets privilege publishes deletes destroys kills power persists hides".split(" "),
);

/** What a rule of the guard would do, in one word; undefined for rules of other layers than commands. */
export function effectOf(rule: string): string | undefined {
  const found: Rule | undefined = RULES[rule as RuleId];
  return found?.effect;
}

/** Whether a finding of this rule may ever be approved by waiting. */
export function neverAutomatic(ruleOrEffect: string): boolean {
  return (
    NEVER_AUTOMATIC.has(effectOf(ruleOrEffect) ?? ruleOrEffect) || /secret|credential/.test(ruleOrEffect)
  );
}

const glob = z.string().min(1);

/** An answer that is given in advance. Of all that match, the strictest holds. */
export const approvalRuleSchema = z
  .strictObject({
    allow: glob.optional().describe("Rules of the guard, with * for any letters: these need no answer."),
    ask: glob.optional().describe("These are always asked, also in mode auto."),
    deny: glob.optional().describe("These are refused without asking."),
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
    .describe(
      "on: a person is asked. auto: what is safe for it is approved after the delay. off: never asked (break-glass).",
    ),
  delay: z.number().min(0).default(30).describe("Seconds before auto approves."),
  timeout: z.number().positive().max(604_800).default(300).describe("Seconds of silence that are a no."),
  offline: z
    .enum(["allow", "wait", "deny"])
    .default("deny")
    .describe(
      "On a host of a fleet whose server cannot be reached: no at once, wait for as long as a question does, or yes at once.",
    ),
  allow: z
    .array(z.string())
    .default([])
    .describe("Approved for good: keys such as `recursive delete`, or `exact:` and a digest."),
  rules: z.array(approvalRuleSchema).default([]).describe("Answers given in advance; the strictest holds."),
  auto: z
    .array(
      z.string().refine((one) => !neverAutomatic(one), {
        error: "is nothing that waiting makes safe: use rules, or allow",
      }),
    )
    .default(["not-listed", "replace-shell", "listen"])
    .describe("What mode auto may approve: rules of the guard, or effects."),
  webhook: z
    .strictObject({
      url: z.url().describe("Where questions are posted: https, or http on this machine."),
      secret_file: z
        .string()
        .min(1)
        .describe("The file with the secret that signs them; only yours to read."),
      answer_url: z.url().optional().describe("Where answers are taken, for whoever is asked."),
    })
    .optional(),
});

export type ApprovalsSection = z.infer<typeof approvalsSection>;
export type ApprovalRule = z.infer<typeof approvalRuleSchema>;
