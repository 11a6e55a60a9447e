import { realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import * as z from "zod";
import { type Finding, findings } from "../../../intent/guard/finding.js";
import { SkillStore, skillDigest } from "../../../intent/guard/skills/store.js";
import { type Tool, type ToolContext, ToolError, type ToolIntent } from "../tool.js";

const { deny } = findings("skills");

const input = z.strictObject({
  folder: z.string().min(1).describe("A folder in the workspace that contains a SKILL.md."),
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i)
    .optional()
    .describe("Name of the skill; default: the folder's name."),
  source: z.string().max(500).optional().describe("Where it comes from, for the reviewer."),
});
type Input = z.infer<typeof input>;

interface SkillInstalled {
  readonly installed: boolean;
  readonly name: string;
  /** Its place in quarantine. */
  readonly quarantine?: string;
  readonly notes: readonly string[];
}

/** Scans a skill and installs it. */
export const skillInstall: Tool<Input, SkillInstalled> = {
  name: "skill_install",
  description:
    'Install a skill (a folder with a SKILL.md) from the workspace for later use. Its instructions and scripts are scanned first: a doubtful skill waits for a person, a harmful one is refused. Example: {"folder": "skills/pdf-tools"}',
  input,
  readOnly: false,

  async judge({ folder, name, source }, world): Promise<ToolIntent> {
    const what = `install the skill ${name ?? basename(folder)} from ${folder}${source === undefined ? "" : ` (${source})`}`;
    const place = placeOf(folder, world);
    if ("finding" in place) return { what, action: "deny", findings: [place.finding], digest: "" };
    // The agent only claims this source: it gives no trust.
    const subject = { kind: "skill", input: place.path } as const;
    const { action, findings: found } = world.guard.check(subject);
    const files = skillDigest(place.path);
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
    // The approval covers exactly these files and the findings of this scan.
    if (quarantined.action === "ask" && call.approved.length > 0 && quarantined.digest === call.digest) {
      store.approve(quarantined.id);
      return { installed: true, name: quarantined.name, notes: ["Approved by a person."] };
    }
    return {
      installed: false,
      name: quarantined.name,
      quarantine: quarantined.id,
      notes: [`It waits in quarantine: the operator decides with hermes skill review ${quarantined.id}`],
    };
  },
};

function placeOf(folder: string, { workspace }: ToolContext): { path: string } | { finding: Finding } {
  const root = realpathSync.native(workspace);
  let path: string;
  try {
    path = realpathSync.native(resolve(root, folder));
  } catch {
    return { finding: deny("not-found", `The folder ${folder} does not exist.`) };
  }
  return path.startsWith(`${root}/`)
    ? { path }
    : { finding: deny("skill-path", `${folder} is not inside the workspace.`) };
}
