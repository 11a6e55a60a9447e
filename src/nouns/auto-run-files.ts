/**
 * The table of files that make other programs run code later, outside the run that wrote them. The guard asks before
 * an agent writes one; the policies `agent` and `tools` ask at run time (policies/later-code.yaml).
 *
 * Paths are patterns as in policies: `**` before a name is any folder, `~` the home. A Makefile or a package.json is
 * not listed: it runs only on request, and changing it is ordinary work.
 */
export interface AutoRunFile {
  /** The guard's rule. */
  readonly rule: "persistence" | "agent-instructions" | "build-pipeline";
  /** Which program runs it, and when. */
  readonly why: string;
  readonly paths: readonly string[];
  /** Exceptions to the paths. */
  readonly except?: readonly string[];
  /** A path that the row matches; for a row with exceptions, also one that it does not match. */
  readonly example: string;
  readonly counterexample?: string;
  /**
   * When the policies ask at run time. `always`; `project`: unless the run itself made the folder that contains the
   * first name, so that cloning and unpacking work; `folder`: unless the run made the folder of the file; `never`:
   * only the guard asks.
   */
  readonly kernel: "always" | "project" | "folder" | "never";
}

export const AUTO_RUN_FILES: readonly AutoRunFile[] = [
  {
    rule: "persistence",
    why: "git runs its hooks at every commit, checkout and merge",
    paths: ["**/.git/hooks/**", "**/.git/modules/**/hooks/**", "**/*.git/hooks/**"],
    except: ["**/hooks/*.sample"],
    example: "/work/.git/hooks/pre-commit",
    counterexample: "/work/.git/hooks/pre-commit.sample",
    kernel: "always",
  },
  {
    rule: "persistence",
    why: "git's configuration names programs that git runs: fsmonitor, pager, filters, aliases, hooks elsewhere",
    paths: [
      "**/.git/{config,config.worktree,commondir,info/attributes,objects/info/alternates}",
      "**/.git/worktrees/*/{config.worktree,commondir}",
      "**/.git/modules/**/{config,config.worktree,commondir}",
      "**/*.git/{config,config.worktree,info/attributes}",
    ],
    example: "/work/.git/config",
    kernel: "folder",
  },
  {
    rule: "persistence",
    why: "it says where git finds its configuration and its hooks",
    paths: ["**/.git"],
    example: "/work/.git",
    kernel: "project",
  },
  {
    rule: "persistence",
    why: "hook managers for git run what is in here",
    paths: [
      "**/{.husky,.githooks,.lefthook,.pre-commit-hooks}/**",
      "**/{.pre-commit-config.yaml,lefthook.yml,lefthook.yaml,.lefthook.yml,.overcommit.yml}",
    ],
    example: "/work/.husky/pre-push",
    kernel: "project",
  },
  {
    rule: "agent-instructions",
    why: "editors run its tasks and the programs in its settings when the folder is opened",
    paths: ["**/{.vscode,.idea,.zed,.fleet,.nova}/**", "**/*.code-workspace", "**/.dir-locals.el"],
    example: "/work/.vscode/tasks.json",
    kernel: "project",
  },
  {
    rule: "agent-instructions",
    why: "its commands run when the container or the machine for this folder is created",
    paths: ["**/.devcontainer/**", "**/{.devcontainer.json,.gitpod.yml,.gitpod.Dockerfile,devbox.json}"],
    example: "/work/.devcontainer/devcontainer.json",
    kernel: "project",
  },
  {
    rule: "agent-instructions",
    why: "agents take hooks, permissions and servers to start from it",
    paths: [
      "**/{.claude,.codex,.gemini,.qwen,.cursor,.opencode,.windsurf,.roo,.continue,.kiro,.amazonq,.augment,.trae,.junie,.hermes,.agents,.agent,.copilot,.cline,.goose,.openhands,.amp,.pi,.factory,.crush,.kilocode,.zencoder,.vibe,.forge,.codebuddy,.iflow}/**",
      "**/{.mcp.json,mcp.json,mcp_servers.json,claude_desktop_config.json,opencode.json,opencode.jsonc,hermes.yaml,hermes.yml,.aider.conf.yml,.aider.conf.yaml}",
      "**/.github/{copilot*,copilot*/**,instructions/**,prompts/**,chatmodes/**,agents/**,hooks/**}",
    ],
    example: "/work/.claude/settings.json",
    kernel: "project",
  },
  {
    rule: "agent-instructions",
    why: "agents take hooks, permissions and servers to start from it, in every project",
    paths: [
      "~/{.claude.json,.claude.json.backup,.aider.conf.yml,.goosehints}",
      "~/.config/{opencode,goose,amp,crush,github-copilot,cline,zed,Cursor,claude,codex,gemini}/**",
      "~/.config/{Code,Code - Insiders,VSCodium,Cursor,Windsurf}/User/**",
    ],
    example: "~/.config/opencode/plugin/hermes.js",
    kernel: "always",
  },
  {
    rule: "agent-instructions",
    why: "it tells agents what to do: changing it changes every later session",
    paths: [
      "**/{AGENTS,CLAUDE,GEMINI,SOUL,QWEN,WARP,COPILOT,HERMES,CODEX,SKILL}{,.local,.override}.md",
      "**/.{cursorrules,windsurfrules,clinerules,roorules,goosehints,hermes.md,rules}",
      "**/.{clinerules,rules}/**",
    ],
    example: "/work/CLAUDE.md",
    kernel: "never", // text, not code: writing it is ordinary work
  },
  {
    rule: "build-pipeline",
    why: "it runs on the build machines, with their secrets",
    paths: [
      "**/.github/{workflows,actions}/**",
      "**/{.gitlab-ci.yml,.gitlab-ci.yaml,Jenkinsfile,.drone.yml,.drone.yaml,azure-pipelines.yml,azure-pipelines.yaml,.travis.yml,.travis.yaml,bitbucket-pipelines.yml,bitbucket-pipelines.yaml}",
      "**/{.circleci,.buildkite,.woodpecker,.forgejo,.gitea}/**",
    ],
    example: "/work/.github/workflows/ci.yml",
    kernel: "project",
  },
  {
    rule: "persistence",
    why: "shells load it when a user enters the folder",
    paths: ["**/{.envrc,.autoenv.zsh,.autoenv,mise.toml,.mise.toml}", "**/.mise/**"],
    example: "/work/mise.toml",
    kernel: "project",
  },
  {
    rule: "persistence",
    why: "package managers and node take options and programs to run from it",
    paths: [
      "**/{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,.pnpmfile.mjs,bunfig.toml}",
      "**/.yarn/{releases,plugins}/**",
    ],
    example: "/work/.yarnrc.yml",
    kernel: "project",
  },
  {
    rule: "persistence",
    why: "debuggers and editors run it when they start in the folder",
    paths: ["**/{.gdbinit,.gdbinit.py,.lldbinit,.exrc,.vimrc,.gvimrc,.nvimrc,.nvim.lua,.lvimrc,.pdbrc}"],
    example: "/work/.gdbinit",
    kernel: "project",
  },
  {
    rule: "persistence",
    why: "python runs it at every start",
    paths: ["**/{sitecustomize,usercustomize}.py"],
    example: "/work/sitecustomize.py",
    kernel: "project",
  },
  {
    rule: "persistence",
    why: "python runs it at every start",
    paths: ["**/{site,dist}-packages/*.pth"],
    example: "/work/.venv/lib/python3.11/site-packages/x.pth",
    kernel: "never", // packages install them, and those of the system are not in the workspace
  },
  {
    rule: "persistence",
    why: "it runs at every login, or whenever a shell or another tool starts",
    paths: [
      "~/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zshenv,zprofile,zlogin,zlogout,kshrc,cshrc,tcshrc,login,inputrc,xonshrc}",
      "~/.{xinitrc,xsession,xsessionrc,xprofile,Xresources,pam_environment,vimrc,gvimrc,exrc,nanorc,emacs,screenrc,tmux.conf,gdbinit,lldbinit,irbrc,pryrc,Rprofile,psqlrc,sqliterc}",
      "~/.{pythonrc,pythonrc.py,pdbrc,rhosts,forward,procmailrc,wgetrc,curlrc,gitconfig,hgrc,mailcap,mailrc,lesskey,condarc}",
      "~/.config/{fish,autostart,systemd,environment.d,nvim,pip,tmux,zsh,powershell,direnv,i3,sway,hypr,mise}/**",
      "~/.config/git/{config,attributes,hooks/**}",
      "~/.config/{starship.toml,bash*}",
      "~/.{vim,emacs.d,oh-my-zsh,bash_completion.d,tmux}/**",
      "~/.{cargo/config,cargo/config.toml,gradle/init.gradle,gradle/init.d/**}",
      "~/.local/share/{systemd,applications}/**",
      "~/.ipython/profile_default/startup/**",
      "~/.local/lib/python*/site-packages/**",
      "~/Library/{LaunchAgents,LaunchDaemons,StartupItems}/**",
      "**/Start Menu/Programs/Startup/**",
    ],
    example: "~/.bashrc",
    kernel: "always",
  },
  {
    rule: "persistence",
    why: "other programs start it by its name, or tools keep and start it there",
    paths: [
      "~/{bin,.local/bin,.cargo/bin,go/bin,.deno/bin,.bun/bin}/**",
      "~/.cache/{pre-commit,node/corepack,ms-playwright*,puppeteer,Cypress,bazelisk,JetBrains,vscode*,gitstatus,nvim,vim,zsh,direnv,mise,aqua}/**",
      "~/.cache/{p10k-*,*.zsh,*.zwc,*.sh}",
    ],
    example: "~/.cache/gitstatus/gitstatusd",
    kernel: "always",
  },
];

/** The patterns for one mode of asking, or all exceptions. */
export function autoRunPatterns(kind: string): readonly string[] {
  return AUTO_RUN_FILES.flatMap(({ kernel, paths, except = [] }) =>
    kind === "except" ? except : kernel === kind ? paths : [],
  );
}

const SPECIAL = /\*\*\/|\/\*\*$|\*|[{},]|[.+^$()|[\]\\?]/g;

/** A pattern of the table as a regular expression for whole paths; one in the home begins with `~`. */
export function autoRunSource(pattern: string): string {
  let depth = 0;
  return pattern.replace(SPECIAL, (found, at: number) => {
    if (found === "**/") return at === 0 ? ".*/" : "(?:.*/)?";
    if (found === "/**") return "(?:/.*)?";
    if (found === "*") return "[^/]*";
    if (found === "{") {
      depth++;
      return "(?:";
    }
    if (found === "}") return depth-- > 0 ? ")" : "\\}";
    if (found === ",") return depth > 0 ? "|" : ",";
    return `\\${found}`;
  });
}
