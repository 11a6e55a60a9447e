import type { Files } from "../layer.js";
import { whyGitRuns } from "./git.js";

/** One file of a skill, by its path inside the skill. */
export interface SkillFile {
  readonly path: string;
  /** Undefined when it is not text: binary, or too large. */
  readonly text: string | undefined;
  readonly size: number;
}

export interface SkillFolder {
  readonly files: readonly SkillFile[];
  /** Reasons against contents of the folder that a skill should not have. */
  readonly odd: readonly { readonly path: string; readonly rule: string; readonly reason: string }[];
}

/** More than a person could review. */
const FILES = 500;
const DEPTH = 8;
/** The first bytes of a .DS_Store, in which macOS keeps how a folder is shown. */
const DS_STORE = "\0\0\0\u0001Bud1";

/**
 * Reads a skill from its folder, with everything in it: an agent could run any of it. Links are not followed: their
 * targets are not part of the skill. Of a `.git`, only what could run something counts.
 */
export function readFolder(root: string, files: Files): SkillFolder {
  const found: SkillFile[] = [];
  const odd: { path: string; rule: string; reason: string }[] = [];
  const visit = (folder: string, inside: string, depth: number): void => {
    for (const name of [...(files.list(folder) ?? [])].sort()) {
      const path = `${folder}/${name}`;
      const own = inside === "" ? name : `${inside}/${name}`;
      const info = files.lstat(path);
      if (name === ".git") {
        const why = whyGitRuns(path, files);
        if (why !== undefined) odd.push({ path: own, rule: "skill-git", reason: `${own} ${why}.` });
        continue;
      }
      if (name === ".DS_Store" && info?.kind === "file" && files.read(path)?.startsWith(DS_STORE)) continue;
      if (found.length + odd.length > FILES || depth > DEPTH) {
        odd.push({
          path: own,
          rule: "skill-too-large",
          reason: "This skill has more files than a person could review.",
        });
        return;
      }
      if (info?.kind === "folder") visit(path, own, depth + 1);
      else if (info?.kind === "file")
        found.push({ path: own, text: textOf(files.read(path)), size: info.size });
      else
        odd.push({
          path: own,
          rule: "skill-link",
          reason: `${own} is ${info?.kind === "link" ? "a link to something outside the reviewed skill" : "not an ordinary file"}.`,
        });
    }
  };
  visit(root, "", 0);
  return { files: found, odd };
}

/** A skill given as text or JSON: its instructions alone, or `{ "files": { "SKILL.md": "…", … } }`. */
export function skillFromText(input: string): SkillFolder {
  const trimmed = input.trimStart();
  if (trimmed.startsWith("{")) {
    try {
      return { files: filesOf(JSON.parse(input)), odd: [] };
    } catch {
      // Not JSON after all: instructions that begin with a brace.
    }
  }
  return { files: [{ path: "SKILL.md", text: input, size: input.length }], odd: [] };
}

/** Every text in the object, named by its path; `files` may be a map, or a list of `{ path, content }`. */
function filesOf(value: unknown, path = ""): SkillFile[] {
  if (typeof value === "string")
    return [{ path: path || "SKILL.md", text: textOf(value), size: value.length }];
  if (Array.isArray(value)) return value.flatMap((item, i) => filesOf(item, join(path, String(i))));
  if (typeof value !== "object" || value === null) return [];
  const named = value as Record<string, unknown>;
  const name = named.path ?? named.name ?? named.filename ?? named.file;
  const text = named.content ?? named.text ?? named.body ?? named.source ?? named.code;
  if (typeof name === "string" && typeof text === "string" && !("files" in named))
    return [{ path: name, text: textOf(text), size: text.length }];
  return Object.entries(named).flatMap(([key, inner]) =>
    filesOf(inner, key === "files" || key === "scripts" ? path : join(path, key)),
  );
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}/${key}`;
}

/** Programs and pictures are not text; text contains no NUL. */
function textOf(text: string | undefined): string | undefined {
  return text === undefined || text.slice(0, 8000).includes("\0") ? undefined : text;
}
