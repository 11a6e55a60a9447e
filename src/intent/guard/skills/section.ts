import * as z from "zod";

/** `skills:` in hermes.yaml. A project's file may not set `trusted`: it allows something. */
export const skillsSection = z.strictObject({
  /** Further sources whose skills are installed although the scan has questions. Refusals remain refusals. */
  trusted: z.array(z.string()).default([]).describe("e.g. github.com/our-company/skills"),
});
export type SkillsSection = z.infer<typeof skillsSection>;

/** Skill repositories that vendors publish under their own name. */
const TRUSTED_SOURCES: readonly string[] = [
  "github.com/anthropics/skills",
  "github.com/openai/skills",
  "github.com/huggingface/skills",
];

/** Whether a source, in any notation, is at or below a trusted one. */
export function isTrusted(source: string, section: SkillsSection): boolean {
  const plain = canonical(source);
  return [...TRUSTED_SOURCES, ...section.trusted]
    .map(canonical)
    .some((trusted) => plain === trusted || plain.startsWith(`${trusted}/`));
}

function canonical(source: string): string {
  return source
    .trim()
    .toLowerCase()
    .replace(/^(?:https?|ssh|git|git\+https|git\+ssh):\/\/(?:git@)?/, "")
    .replace(/^git@([^:]+):/, "$1/")
    .replace(/\.git(?=\/|$|@|#)/, "")
    .replace(/[@#?].*$/, "")
    .replace(/\/(?:tree|blob)\/[^/]+/, "")
    .replace(/\/+$/, "");
}
