import { type Finding, findings } from "../finding.js";
import type { Context, Layer } from "../layer.js";
import type { Subject } from "../subject.js";
import { allowsPath } from "./allowed.js";
import {
  expandHome,
  hasTraversalComponent,
  isWindowsAbsolute,
  isWithin,
  lexical,
  plainUps,
} from "./components.js";
import { disguise } from "./disguise.js";
import { validateWithinDir } from "./within.js";

const { allow, ask, deny } = findings("paths");

/** Where a path leads: out of the workspace by `..` or a link, or elsewhere than it seems. */
export const pathsLayer: Layer = {
  name: "paths",
  kinds: ["path"],
  check(subject, context) {
    const { input } = subject;
    if (input.trim() === "") return [ask("empty-path", "The path is empty.")];
    const trick = disguise(input);
    if (trick && !trick.mild) return [deny(trick.rule, trick.reason, whole(input))];
    const mild = trick ? [ask(trick.rule, trick.reason, whole(input))] : [];
    return [...mild, ...escapes(subject, context)];
  },
};

function escapes({ input, fields }: Subject, context: Context): readonly Finding[] {
  const root = typeof fields?.root === "string" ? fields.root : undefined;
  const { workspace, cwd, home, files } = context;
  const inside = root ?? workspace;
  const path = plainUps(expandHome(input, home).replaceAll("\\", "/"));
  if (isWindowsAbsolute(input) && !isWindowsAbsolute(inside)) return foreign(input, path);
  const from = root ?? cwd;
  const target = lexical(path, from);
  if (!isWithin(target, inside)) {
    if (hasTraversalComponent(path))
      return [
        deny(
          "traversal",
          `The path goes up with ".." and leaves ${inside}.`,
          whole(input),
          "Name the file by a path inside the workspace.",
        ),
      ];
    if (root !== undefined) return [deny("outside-root", `The path is outside ${root}.`, whole(input))];
    if (!isWriteAccess(fields) || isScratch(target, home)) return [];
    const judge = allowsPath(context, "write", target, "outside-workspace") ? allow : ask;
    const reason = `The path is outside the workspace ${workspace}.`;
    return [{ ...judge("outside-workspace", reason, whole(input)), about: target }];
  }
  if (validateWithinDir(target, inside, files)) return [];
  const reason = `A symbolic link in the path leads out of ${inside}, or to nothing.`;
  return [(isWriteAccess(fields) || root !== undefined ? deny : ask)("symlink-escape", reason, whole(input))];
}

/** A Windows path on another system: its target is unknown. */
function foreign(input: string, path: string): readonly Finding[] {
  if (hasTraversalComponent(path)) return [deny("traversal", `The path goes up with "..".`, whole(input))];
  return [ask("drive-path", "The path names a drive, which is outside the workspace.", whole(input))];
}

function isWriteAccess(fields: Subject["fields"]): boolean {
  return fields?.access !== undefined && fields.access !== "read" && fields.access !== "list";
}

/** Folders for temporary files. */
function isScratch(path: string, home: string): boolean {
  return ["/tmp", "/var/tmp", "/dev/shm", `${home}/.cache`].some((folder) => path.startsWith(`${folder}/`));
}

function whole(input: string) {
  return { start: 0, end: input.length };
}
