import { lstat, readlink } from "node:fs/promises";
import * as z from "zod";
import { harmless } from "../../text.js";
import type { Tool } from "../tool.js";
import { globTest } from "./glob.js";
import { digestOf, hold, intentOf, nameIn, pathSubject, withTarget } from "./target.js";
import { DEEPEST, type Entry, Omitted, tree } from "./tree.js";

const input = z.strictObject({
  path: z.string().min(1).default("."),
  depth: z.int().min(1).max(DEEPEST).default(1).describe("How many levels of folders."),
  glob: z.string().min(1).max(1000).optional().describe("Only what fits: *.ts, src/**/*.test.ts"),
  ignored: z.boolean().default(false).describe("Also what .gitignore hides."),
  limit: z.int().min(1).max(5000).default(500),
});
type Input = z.infer<typeof input>;

export interface Listed {
  readonly path: string;
  readonly type: Entry["kind"];
  /** Of a file, in bytes. */
  readonly size?: number;
  /** Of a link. */
  readonly to?: string;
}

export interface ListOutput {
  readonly path: string;
  readonly entries: readonly Listed[];
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

export const listFiles: Tool<Input, ListOutput> = {
  name: "list_files",
  description:
    "Lists a folder, several levels deep if depth says so, without what .gitignore hides. At most limit entries (500, never more than 5,000). Links are named, not followed.",
  input,
  readOnly: true,

  judge: ({ path }, world) =>
    withTarget(path, "list", world, async ({ real, judgement }) =>
      intentOf({
        what: `list ${nameIn(world, real)}`,
        subject: pathSubject(path, "list"),
        judgement,
        digest: digestOf("list_files", real),
      }),
    ),

  run: ({ path, depth, glob, ignored, limit }, call, world) =>
    withTarget(path, "list", world, async ({ real, judgement, pin, problem }) => {
      hold(call, judgement, digestOf("list_files", real));
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
      const notes = truncated
        ? [`There is more than ${limit} entries: name a smaller folder, or a glob.`]
        : [];
      return { path: nameIn(world, real), entries, truncated, notes: [...notes, ...omitted.notes] };
    }),
};

async function listed({ path, kind, way }: Entry): Promise<Listed> {
  const about = { path: harmless(path), type: kind };
  try {
    if (kind === "file") return { ...about, size: (await lstat(way)).size };
    if (kind === "link") return { ...about, to: harmless(await readlink(way)) };
  } catch {
    // It was removed since: its name is all that is known of it.
  }
  return about;
}
