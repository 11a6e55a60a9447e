import { type Action, strictest } from "../finding.js";
import type { Context } from "../layer.js";
import { expandHome, isInside, lexical } from "../paths/components.js";
import type { Want } from "./access.js";
import { PROTECTED, type Protected } from "./protected.js";
import type { FilesSection } from "./section.js";

export interface Match {
  readonly rule: string;
  readonly reason: string;
  readonly action: Action;
}

/** Homes as they are called on the systems we know; the given one is turned into this form first. */
const HOME = "(?:/home/[^/]+|/root|/users/[^/]+|/c/users/[^/]+|/mnt/[a-z]/users/[^/]+|/var/root)";

const compiled = PROTECTED.map((row) => ({
  row,
  pattern: together(row.patterns),
  except: row.except && together(row.except),
}));

function together(patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.map((p) => (p.startsWith("~") ? HOME + p.slice(1) : p)).join("|")})$`);
}

/** What the tables say of an absolute, lexical path. The strictest row holds. */
export function matchProtected(
  path: string,
  { home, workspace }: Pick<Context, "home" | "workspace">,
  wanted: Want,
): Match | undefined {
  const inside = workspace !== "/" && isInside(path, workspace);
  const text = atHome(path, home).toLowerCase();
  let found: Match | undefined;
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

/** What the user's own globs say (`files:` in hermes.yaml). Relative ones are taken from the workspace. */
export function matchOwn(path: string, { config, home, workspace }: Context): Match | undefined {
  const own = config.files as Partial<FilesSection> | undefined;
  const found = (action: Action, globs: readonly string[] = []) =>
    globs.some((glob) => globOf(glob, home, workspace).test(path))
      ? [{ rule: "configured-path", reason: "Your configuration protects this path.", action }]
      : [];
  return [...found("deny", own?.deny), ...found("ask", own?.ask)][0];
}

/** `**` goes through folders, `*` and `?` stay in one. */
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

function match({ rule, reason }: Protected, action: Action): Match {
  return { rule, reason, action };
}

function atHome(path: string, home: string): string {
  return path === home || path.startsWith(`${home}/`) ? `/home/user${path.slice(home.length)}` : path;
}
