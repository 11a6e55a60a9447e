import type { Invocation, Word } from "../script.js";
import { type CommandCheck, type RuleHit, ruleHit } from "./check.js";

/** Variables that make other programs load or run code. The pattern says which values count; without one, all do. */
const VARIABLES: readonly (readonly [name: RegExp, value?: RegExp])[] = [
  [/^(LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH)$/, /./],
  [/^(BASH_ENV|ENV|ZDOTDIR|PS4|BASH_FUNC_.*|SUDO_ASKPASS|SSH_ASKPASS|GIT_ASKPASS)$/, /[/$`(]/],
  [
    /^(PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PERL5OPT|PERL5DB|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GCONV_PATH|GCC_EXEC_PREFIX|COMPILER_PATH|LUA_INIT)$/,
    /./,
  ],
  [/^PROMPT_COMMAND$/],
  [/^NODE_OPTIONS$/, /--(require|import|loader|experimental-loader|inspect-brk)|-r\s/],
  [
    /^(GIT_SSH_COMMAND|GIT_SSH|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|RSYNC_RSH|CVS_RSH|SVN_SSH)$/,
    /^(?!ssh\b|"?ssh )|ProxyCommand|[;|&`$(]/,
  ],
  [
    /^(PAGER|GIT_PAGER|MANPAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|BROWSER|LESSOPEN|LESSCLOSE|FCEDIT|SYSTEMD_PAGER|PSQL_EDITOR|AWS_PAGER)$/,
    /[;|&`$()<>]|^(?!(|cat|less( .*)?|more|most|bat.*|true|false|:|vim?|nvim|nano|emacs|code.*|ed|delta|head|sed .*|touch|tee|firefox|chromium|xdg-open|open)$)/,
  ],
  [/^GIT_CONFIG(_GLOBAL|_SYSTEM|_KEY_\d+|_VALUE_\d+|_PARAMETERS)?$/, /[;|&`!]|core\.|alias\.|credential\./],
  [/^GIT_(EXEC_PATH|TEMPLATE_DIR|ALTERNATE_OBJECT_DIRECTORIES)$/, /./],
  [
    /^(npm_config_(registry|script_shell|node_options)|NPM_CONFIG_(REGISTRY|SCRIPT_SHELL)|PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST)|UV_(INDEX_URL|DEFAULT_INDEX)|GOPROXY|GOFLAGS|GONOSUMDB|GOINSECURE|CARGO_REGISTRIES_.*|RUSTC_WRAPPER|CARGO_BUILD_RUSTC_WRAPPER)$/i,
    /^(?!direct$|off$|sccache$|https:\/\/(registry\.npmjs\.org|pypi\.org|proxy\.golang\.org)|-mod=|-tags=|-race$|-count=)./,
  ],
  [/^(https?_proxy|all_proxy|ftp_proxy)$/i, /^(?!$|https?:\/\/(localhost|127\.|proxy\.))./],
  [/^(NODE_TLS_REJECT_UNAUTHORIZED)$/, /^0$/],
  [/^(HISTFILE)$/, /^(\/dev\/null|)$/],
  [/^IFS$/, /^[^\s:,;|]$/],
  [/^PATH$/],
];

/** Variables that make other programs run other code. */
export const checkHijack: CommandCheck = (invocation, { surroundings }) =>
  settings(invocation).flatMap((setting) => judge(setting, surroundings.workspace));

function settings({ argv, assignments }: Invocation): { name: string; value: Word }[] {
  const sets = /^(env|export|declare|typeset|local|readonly|sudo|cross-env|set)$/.test(argv[0]?.text ?? "");
  const among = sets ? argv.slice(1) : [];
  return [
    ...assignments,
    ...among.flatMap((word) => {
      const [, name, value] = /^(\w+)=(.*)$/s.exec(word.text) ?? [];
      return name && value !== undefined ? [{ name, value: { ...word, text: value } }] : [];
    }),
  ];
}

function judge({ name, value }: { name: string; value: Word }, workspace: string): RuleHit[] {
  const row = VARIABLES.find(([pattern]) => pattern.test(name));
  if (!row) return [];
  if (name === "PATH") return pathEntries(value.text, workspace) ? [ruleHit("hijack", value.span, name)] : [];
  if (row[1] && !row[1].test(value.text)) return [];
  return [ruleHit(name === "HISTFILE" ? "hide-traces" : "hijack", value.span, name)];
}

/** A folder that everyone can write to, before the usual ones in PATH. */
function pathEntries(path: string, workspace: string): boolean {
  const entries = path.split(":");
  if (entries[0]!.startsWith(`${workspace}/`)) return false;
  return entries.length > 1 && /^(|\.|\/tmp.*|\/var\/tmp.*|\/dev\/shm.*)$/.test(entries[0]!);
}
