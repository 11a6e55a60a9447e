/** Variables that make a child process run foreign code, before or instead of its own. */
interface CodeVariable {
  readonly names: RegExp;
  readonly reason: string;
  /** Values that are known to be harmless, where the variable has an honest use. */
  readonly unless?: RegExp;
}

const PLAIN_PROGRAM = /^[\w./+-]+(?: -{1,2}[\w-]+(?:=\w+)?)*$/;
const PLAIN_SEARCH = /^(?!.*(?:\/tmp\/|\/var\/tmp\/|\/dev\/shm))[^\s;|&$`]*$/;

const CODE_VARIABLES: readonly CodeVariable[] = [
  {
    names: /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|GCONV_PATH|LD_PROFILE)$/,
    reason: "loads a library into every program",
    unless: /^(?:|\/usr\/lib\/[\w./-]*lib(?:jemalloc|tcmalloc|mimalloc|eatmydata|gomp|asan)[\w.-]*)$/,
  },
  {
    names: /^(?:LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|DYLD_FRAMEWORK_PATH)$/,
    reason: "decides which libraries programs load",
    unless: /^(?!.*(?:\/tmp\/|\/dev\/shm|(?:^|:)\.(?:[/:]|$)))/,
  },
  {
    names: /^(?:BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PS0|PS4)$/,
    reason: "is run by every shell that starts",
    unless:
      /^(?:|\/etc\/(?:profile|bash\.bashrc|shinit|zsh)|\+.*|dev|development|prod|production|test|testing|staging|local|ci)$/i,
  },
  { names: /^BASH_FUNC_.*(?:%%|\(\))$/, reason: "defines a function in every shell" },
  { names: /^SHELLOPTS$|^BASHOPTS$/, reason: "switches options of every shell", unless: /^[a-z:]*$/ },
  {
    names: /^(?:PYTHONSTARTUP|PYTHONHOME|PYTHONBREAKPOINT|PYTHONINSPECT|PYTHONUSERBASE)$/,
    reason: "makes Python run or load other code",
    unless: /^(?:|0|1|(?:pdb|ipdb|pudb)\.set_trace)$/,
  },
  {
    names: /^(?:PYTHONPATH|PERL5LIB|PERLLIB|RUBYLIB|NODE_PATH|CLASSPATH|LUA_PATH|LUA_CPATH|GEM_PATH)$/,
    reason: "decides which modules are loaded",
    unless: PLAIN_SEARCH,
  },
  {
    names: /^NODE_OPTIONS$/,
    reason: "makes Node load other code",
    unless:
      /^(?!.*(?:--require|-r\b|--import|--loader|--experimental-loader|--inspect|--eval|--env-file|--openssl-config)).*$/,
  },
  {
    names: /^(?:PERL5OPT|PERL5DB|RUBYOPT|AWKPATH|GAWKPATH)$/,
    reason: "makes an interpreter run other code",
    unless: /^(?:|-W\S*|-w)$/,
  },
  {
    names: /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|SBT_OPTS)$/,
    reason: "makes Java load an agent",
    unless: /^(?!.*(?:-javaagent|-agentlib|-agentpath|-Xbootclasspath|OnError|OnOutOfMemoryError)).*$/,
  },
  {
    names:
      /^(?:GIT_SSH_COMMAND|GIT_SSH|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|GIT_ASKPASS|SSH_ASKPASS|GIT_SEQUENCE_EDITOR|GIT_TEMPLATE_DIR|GIT_EXEC_PATH)$/,
    reason: "is a program that git or ssh runs",
    unless:
      /^(?:|true|echo|:|\/(?:usr|bin|opt|Applications)\/[\w./ -]+|ssh(?: -[io] [\w=./~@%-]+| -[46TCqv])*|code --wait|(?:vim?|nano|emacs|code))$/,
  },
  {
    names: /^GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS|GLOBAL|SYSTEM)$/,
    reason: "changes git's configuration, which can run programs",
    unless:
      /^(?:\/dev\/null|\d|safe\.directory|\*|\/[\w./-]+|user\.\w+|core\.autocrlf|true|false|init\.defaultBranch|main)$/,
  },
  {
    names:
      /^(?:EDITOR|VISUAL|PAGER|MANPAGER|GIT_PAGER|GIT_EDITOR|BROWSER|LESSOPEN|LESSCLOSE|SYSTEMD_PAGER|BAT_PAGER|FCEDIT|SHELL)$/,
    reason: "is a command that other programs run",
    unless: /^(?:|cat|\|?-? ?\/usr\/bin\/lesspipe(?:\.sh)?(?: %s)*|sh -c 'col -bx \| bat -l man -p')$/,
  },
  {
    names: /^(?:CC|CXX|LD|MAKEFLAGS|RUSTC_WRAPPER|CARGO_BUILD_RUSTC_WRAPPER|CMAKE_TOOLCHAIN_FILE)$/,
    reason: "is run by builds",
    unless: PLAIN_PROGRAM,
  },
  { names: /^MAKEFILES$/, reason: "is read by every make", unless: /^$/ },
  {
    names: /^(?:HTTP_PROXY|HTTPS_PROXY|ALL_PROXY)$/i,
    reason: "routes every request through another server",
    unless: /^$|^(?:https?|socks5h?):\/\/[\w.:-]+\/?$|^[\w.-]+:\d+$/,
  },
  { names: /^(?:IFS)$/, reason: "changes how shells split words", unless: /^\s*$/ },
];

const SHELLSHOCK = /^\(\)\s*\{/;

/** Why a variable would make a child run foreign code; undefined when it would not. */
export function runsCode(name: string, value: string): string | undefined {
  if (SHELLSHOCK.test(value)) return "its value is a shell function";
  const row = CODE_VARIABLES.find(({ names }) => names.test(name));
  if (row === undefined || row.unless?.test(value)) return undefined;
  if (row.unless === undefined || !PLAIN_COMMANDS.test(name) || !PLAIN_PROGRAM.test(value)) return row.reason;
  return undefined;
}

/** Variables that name a program of the user's choice: a plain name with options is allowed. */
const PLAIN_COMMANDS =
  /^(?:EDITOR|VISUAL|.*PAGER|GIT_EDITOR|BROWSER|FCEDIT|SHELL|CC|CXX|LD|MAKEFLAGS|RUSTC_WRAPPER)$/;
