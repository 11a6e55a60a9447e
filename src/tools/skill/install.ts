import { realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import * as z from "zod";
import { type Finding, findings } from "../../guard/finding.js";
import { digestOf, SkillStore } from "../../guard/skills/store.js";
import { type Intent, type Tool, ToolError, type World } from "../tool.js";

const { deny } = findings("skills");

const input = z.strictObject({
  folder: z.string().min(1).describe("A folder of the workspace with a SKILL.md."),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i)
    .optional()
    .describe("What to call it; default: the folder's name."),
  source: z.string().max(500).optional().describe("Where it is from, for whoever looks at it."),
});
type Input = z.infer<typeof input>;

export interface SkillInstalled {
  readonly installed: boolean;
  readonly name: string;
  /** Where it waits for the operator. */
  readonly quarantine?: string;
  readonly notes: readonly string[];
}

/** Puts a skill in place after a look at what is in it. */
export const skillInstall: Tool<Input, SkillInstalled> = {
  name: "skill_install",
  description:
    'Install a skill (a folder with a SKILL.md) from the workspace for later use. Its instructions and scripts are looked at first; what is doubtful waits for a person, what is harmful is refused. Example: {"folder": "skills/pdf-tools"}',
  input,
  readOnly: false,

  async judge({ folder, name, source }, world): Promise<Intent> {
    const what = `install the skill ${name ?? basename(folder)} from ${folder}${source === undefined ? "" : ` (${source})`}`;
    const place = placeOf(folder, world);
    if ("finding" in place) return { what, action: "deny", findings: [place.finding], digest: "" };
    // Where it is from is only what the agent says: it makes nothing trusted.
    const subject = { kind: "skill", input: place.path } as const;
    const { action, findings: found } = world.guard.check(subject);
    const files = digestOf(place.path);
    return { what, subject, action, findings: found, digest: files, detail: { folder: place.path, files } };
  },

  async run({ folder, name, source }, call, world) {
    const place = placeOf(folder, world);
    if ("finding" in place) throw new ToolError(place.finding.rule, place.finding.reason);
    const store = new SkillStore(world.env.HERMES_HOME ?? join(world.home, ".hermes"), (draft) =>
      world.guard.check({ kind: "skill", input: draft }),
    );
    const outcome = store.install(place.path, name ?? basename(place.path), source);
    if (outcome.installed) return { installed: true, name: outcome.name, notes: [] };
    const { quarantined } = outcome;
    // What was approved is these files, and what a scan of them asks about.
    if (quarantined.action === "ask" && call.approved.length > 0 && quarantined.digest === call.digest) {
      store.approve(quarantined.id);
      return { installed: true, name: quarantined.name, notes: ["It was approved."] };
    }
    return {
      installed: false,
      name: quarantined.name,
      quarantine: quarantined.id,
      notes: [`It waits for the operator: hermes skill review ${quarantined.id}`],
    };
  },
};

function placeOf(folder: string, { workspace }: World): { path: string } | { finding: Finding } {
  const root = realpathSync.native(workspace);
  let path: string;
  try {
    path = realpathSync.native(resolve(root, folder));
  } catch {
    return { finding: deny("not-found", `There is no folder ${folder}.`) };
  }
  return path.startsWith(`${root}/`)
    ? { path }
    : { finding: deny("skill-path", `${folder} is not inside the workspace.`) };
}
