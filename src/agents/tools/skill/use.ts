import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { type Finding, findings } from "../../../intent/guard/finding.js";
import { SkillStore, skillDigest } from "../../../intent/guard/skills/store.js";
import { judgementOf } from "../files/file-target.js";
import { type Tool, type ToolContext, type ToolIntent, ToolRefusal } from "../tool.js";

const { ask, deny } = findings("skills");

const input = z.strictObject({ name: z.string().min(1).max(64).describe("The name of an installed skill.") });
type Input = z.infer<typeof input>;

/** What a skill's head declares that it needs. */
const head = z.object({
  required_credential_files: z.array(z.string()).default([]),
  required_environment_variables: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).default([]),
});
type Head = z.infer<typeof head>;

interface SkillUsed {
  readonly name: string;
  readonly folder: string;
  /** SKILL.md, whole. */
  readonly instructions: string;
  /** Credential files that commands of this session may read from now on, and those that do not exist. */
  readonly credentialFiles: readonly string[];
  readonly missing: readonly string[];
  /** Variables that commands of this session get from now on. */
  readonly variables: readonly string[];
}

/** Opens an installed skill for this session: after the same scan as at its installation, what it declares takes effect. */
export const skillUse: Tool<Input, SkillUsed> = {
  name: "skill_use",
  description:
    'Open an installed skill: returns its instructions, and gives the commands of this session the credential files and variables that it declares, which a person must approve. Example: {"name": "pdf-tools"}',
  input,
  readOnly: false,

  async judge({ name }, world): Promise<ToolIntent> {
    const what = `use the skill ${name}`;
    const folder = folderOf(name, world);
    if (!existsSync(join(folder, "SKILL.md"))) {
      const finding = deny("no-such-skill", `No skill ${name} is installed.`);
      return { what, action: "deny", findings: [finding], digest: "" };
    }
    const subject = { kind: "skill", input: folder } as const;
    const known = world.guard.check(subject).findings;
    const wanted = headOf(folder);
    const judgement = judgementOf([...known, ...("reason" in wanted ? [wanted] : wants(wanted))]);
    return { what, subject, ...judgement, digest: digestOf(folder, name), detail: { folder } };
  },

  async run({ name }, call, world) {
    const folder = folderOf(name, world);
    if (digestOf(folder, name) !== call.digest)
      throw new ToolRefusal("changed-since-judged", "The skill changed after it was judged: try again.");
    const wanted = headOf(folder);
    if ("reason" in wanted) throw new ToolRefusal(wanted.rule, wanted.reason);
    const found = wanted.required_credential_files.filter((file) => world.credentials.register(file));
    for (const variable of wanted.required_environment_variables) world.declared.add(variable);
    return {
      name,
      folder,
      instructions: readFileSync(join(folder, "SKILL.md"), "utf8"),
      credentialFiles: found,
      missing: wanted.required_credential_files.filter((file) => !found.includes(file)),
      variables: wanted.required_environment_variables,
    };
  },
};

function folderOf(name: string, { env, home }: ToolContext): string {
  const store = new SkillStore(env.HERMES_HOME ?? join(home, ".hermes"), () => ({
    action: "deny",
    findings: [],
  }));
  return store.folderOf(name);
}

function digestOf(folder: string, name: string): string {
  return createHash("sha256")
    .update(JSON.stringify(["hermes skill use", 1, name, skillDigest(folder)]))
    .digest("hex");
}

function wants({ required_credential_files: files, required_environment_variables: names }: Head): Finding[] {
  const all = [...files.map((file) => `the file ${file}`), ...names.map((name) => `the variable ${name}`)];
  if (all.length === 0) return [];
  return [
    ask("skill-credentials", `Commands of this session would get what it declares: ${all.join(", ")}.`),
  ];
}

/** The YAML between the two lines of dashes at the start. */
function headOf(folder: string): Head | Finding {
  const text = /^---\r?\n([\s\S]*?)\r?\n---/.exec(readFileSync(join(folder, "SKILL.md"), "utf8"))?.[1] ?? "";
  try {
    return head.parse(parse(text) ?? {});
  } catch (error) {
    return deny(
      "skill-head",
      `The head of its SKILL.md cannot be read: ${(error as Error).message.slice(0, 200)}`,
    );
  }
}
