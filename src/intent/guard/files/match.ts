import { type Action, strictest } from "../finding.js";
import type { Context } from "../layer.js";
import { expandHome, isWithin, lexical } from "../paths/components.js";
import type { Want } from "./access.js";
import { PROTECTED, type Protected } from "./protected.js";
import type { FilesSection } from "./section.js";

export interface ProtectedMatch {
  readonly rule: string;
  readonly reason: string;
  readonly action: Action;
}

/** Home folders on the systems that we know; the given home is turned into this form first. */
const HOME = "(?:/home/[^/]+|/root|/users/[^/]+|/c/users/[^/]+|/mnt/[a-z]/users/[^/]+|/var/root)";

const compiled = PROTECTED.map((row) => ({
  row,
  pattern: together(row.patterns),
  except: row.except && together(row.except),
}));

function together(patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.map((p) => (p.startsWith("~") ? HOME + p.slice(1) : p)).join("|")})$`);
}

/** What the tables say about an absolute, lexical path. The strictest row wins. */
export function matchProtected(
  path: string,
  { home, workspace }: Pick<Context, "home" | "workspace">,
  wanted: Want,
): ProtectedMatch | undefined {
  const inside = workspace !== "/" && isWithin(path, workspace);
  const text = atHome(path, home).toLowerCase();
  let found: ProtectedMatch | undefined;
  for (const { row, pattern, except } of compiled) {
    const action = row[wanted];
    if (
      action === "allow" ||
      (row.outside && inside) ||
      (found && strictest(found.action, action) === found.action)
    )
      continue;
    if (pattern.test(text) && !except?.test(text)) found = match(row, action);
  }
  return found;
}

/** What the user's globs say (`files:` in hermes.yaml). Relative ones start at the workspace. */
export function matchOwn(path: string, { config, home, workspace }: Context): ProtectedMatch | undefined {
  const own = config.files as Partial<FilesSection> | undefined;
  const found = (action: Action, globs: readonly string[] = []) =>
    globs.some((glob) => globOf(glob, home, workspace).test(path))
      ? [{ rule: "configured-path", reason: "Your configuration protects this path.", action }]
      : [];
  return [...found("deny", own?.deny), ...found("ask", own?.ask)][0];
}

/** `**` crosses folders, `*` and `?` do not. */
function globOf(glob: string, home: string, workspace: string): RegExp {
  const whole = lexical(expandHome(glob, home), workspace);
  const source = whole.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) =>
    part === "**/"
      ? "(?:.*/)?"
      : part === "**"
        ? ".*"
        : part === "*"
          ? "[^/]*"
          : part === "?"
            ? "[^/]"
            : `\\${part}`,
  );
  return new RegExp(`^${source}$`);
}

function match({ rule, reason }: Protected, action: Action): ProtectedMatch {
  return { rule, reason, action };
}

function atHome(path: string, home: string): string {
  return path === home || path.startsWith(`${home}/`) ? `/home/user${path.slice(home.length)}` : path;
}
