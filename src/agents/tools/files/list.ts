import { lstat, readlink } from "node:fs/promises";
import * as z from "zod";
import { escapeControl } from "../../../nouns/text.js";
import type { Tool } from "../tool.js";
import {
  intentOf,
  nameIn,
  operationDigest,
  pathSubject,
  requireApproved,
  withTarget,
} from "./file-target.js";
import { globTest } from "./glob.js";
import { DEEPEST, Omitted, type TreeEntry, tree } from "./tree.js";

const input = z.strictObject({
  path: z.string().min(1).default("."),
  depth: z.int().min(1).max(DEEPEST).default(1).describe("Number of folder levels."),
  glob: z.string().min(1).max(1000).optional().describe("Only matching paths: *.ts, src/**/*.test.ts"),
  ignored: z.boolean().default(false).describe("Include files that .gitignore excludes."),
  limit: z.int().min(1).max(5000).default(500),
});
type Input = z.infer<typeof input>;

interface Listed {
  readonly path: string;
  readonly type: TreeEntry["kind"];
  /** Size of a file, in bytes. */
  readonly size?: number;
  /** Target of a link. */
  readonly to?: string;
}

interface ListOutput {
  readonly path: string;
  readonly entries: readonly Listed[];
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

export const listFiles: Tool<Input, ListOutput> = {
  name: "list_files",
  description:
    "Lists a folder, up to depth levels, without files that .gitignore excludes. At most limit entries (default 500, maximum 5,000). Symbolic links are listed, not followed.",
  input,
  readOnly: true,

  judge: ({ path }, world) =>
    withTarget(path, "list", world, async ({ real, judgement }) =>
      intentOf({
        what: `list ${nameIn(world, real)}`,
        subject: pathSubject(path, "list"),
        judgement,
        digest: operationDigest("list_files", real),
      }),
    ),

  run: ({ path, depth, glob, ignored, limit }, call, world) =>
    withTarget(path, "list", world, async ({ real, judgement, pin, problem }) => {
      requireApproved(call, judgement, operationDigest("list_files", real));
      if (!pin) throw problem;
      const wanted = glob === undefined ? () => true : globTest(glob);
      const omitted = new Omitted();
      const entries: Listed[] = [];
      let truncated = false;
      for await (const entry of tree(pin, world, { depth, ignored, signal: call.signal }, omitted)) {
        if (!wanted(entry.path)) continue;
        truncated = entries.length >= limit;
        if (truncated) break;
        entries.push(await listed(entry));
      }
      const notes = truncated ? [`More than ${limit} entries: choose a smaller folder or add a glob.`] : [];
      return { path: nameIn(world, real), entries, truncated, notes: [...notes, ...omitted.notes] };
    }),
};

async function listed({ path, kind, way }: TreeEntry): Promise<Listed> {
  const about = { path: escapeControl(path), type: kind };
  try {
    if (kind === "file") return { ...about, size: (await lstat(way)).size };
    if (kind === "link") return { ...about, to: escapeControl(await readlink(way)) };
  } catch {
    // It was removed since: only its name is known.
  }
  return about;
}
