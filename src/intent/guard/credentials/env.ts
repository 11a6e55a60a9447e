import { runsCode } from "./code.js";
import { judgeName } from "./names.js";
import { findSecrets } from "./secrets.js";
import { isFlag } from "./value-shapes.js";

/** A variable that must not reach a child, and why. */
export interface Withheld {
  readonly name: string;
  readonly rule: "env-never" | "env-provider" | "env-name" | "env-value" | "env-code";
  readonly reason: string;
}

export interface EnvOptions {
  /** Credentials that skills or configuration declare: these reach the child. `NAME_*` covers a family. */
  readonly declared?: readonly string[];
  /** Further names to withhold. */
  readonly strip?: readonly string[];
}

/** Tells a child which runtime it runs in. */
const RUNTIME_MARK = { AGENT_FOUNDRY_RUNTIME: "1" } as const;

/** Why a variable is withheld; undefined when it may pass. An unknown value can be anything. */
export function judgeVariable(
  name: string,
  value: string | undefined,
  options: EnvOptions = {},
): Withheld | undefined {
  const named = judgeName(name);
  if (named?.rule === "env-never") return { name, ...named };
  if (isDeclared(name, options.strip ?? []))
    return { name, rule: "env-name", reason: `Your configuration withholds ${name}.` };
  const code = value === undefined ? undefined : runsCode(name, value);
  if (code !== undefined) return { name, rule: "env-code", reason: `${name} ${code}.` };
  if (isDeclared(name, options.declared ?? [])) return undefined;
  if (named?.rule === "env-provider" && value !== "") return { name, ...named };
  if (named !== undefined && (value === undefined || !isFlag(value))) return { name, ...named };
  const [secret] = value === undefined ? [] : findSecrets(value);
  if (secret === undefined || (!secret.certain && isPublic(name))) return undefined;
  return { name, rule: "env-value", reason: `The value of ${name} looks like ${secret.what}.` };
}

/** Variables of sessions, builds and terminals have random values without being secrets. */
function isPublic(name: string): boolean {
  return /^(?:XDG_|DBUS_|WT_|TERM_|VSCODE_|ITERM_|INVOCATION_ID|JOURNAL_STREAM|SESSION_MANAGER|LS_COLORS|PS1|KITTY_|GPG_|SSH_(?:AUTH_SOCK|CONNECTION|CLIENT)|.*(?:_ID|_SHA|_HASH|_REF|_PATH|_DIR|_CHECKSUM|_DIGEST)$)/.test(
    name,
  );
}

function isDeclared(name: string, declared: readonly string[]): boolean {
  return declared.some((entry) =>
    entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry,
  );
}

export interface FilteredEnv {
  readonly env: Record<string, string>;
  readonly withheld: readonly Withheld[];
}

/** The environment for a child: without credentials, except declared ones, and with the runtime's mark. */
export function filterEnv(
  env: Readonly<Record<string, string | undefined>>,
  options: EnvOptions = {},
): FilteredEnv {
  const kept: Record<string, string> = {};
  const withheld: Withheld[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const why = judgeVariable(name, value, options);
    if (why) withheld.push(why);
    else kept[name] = value;
  }
  return { env: { ...kept, ...RUNTIME_MARK }, withheld };
}

/** Variables that every program may have. */
const BASELINE =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|TMPDIR|TEMP|TMP|PWD|XDG_\w+|NO_COLOR|FORCE_COLOR|SYSTEMROOT|COMSPEC|PATHEXT|WINDIR|USERPROFILE|APPDATA|LOCALAPPDATA)$/i;

/** For the least trusted children (servers of others): only the baseline and the declared variables. */
export function baselineEnv(
  env: Readonly<Record<string, string | undefined>>,
  options: EnvOptions = {},
): FilteredEnv {
  const wanted = Object.entries(env).filter(
    ([name]) => BASELINE.test(name) || isDeclared(name, options.declared ?? []),
  );
  return filterEnv(Object.fromEntries(wanted), options);
}
