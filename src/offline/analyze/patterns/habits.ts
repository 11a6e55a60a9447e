import type { TracedProcess } from "../processes.js";
import type { PatternFinding } from "./pattern.js";

/** What programs of this name ordinarily do, although it looks like a pattern. */
interface Habit {
  readonly patterns: readonly string[];
  /** The tool: a program's name, or its script's (`npm` of `node /usr/bin/npm`). Any tool when absent. */
  readonly tool?: RegExp;
  /** Every file that it is about; any when absent. */
  readonly files?: RegExp;
  /** The port that it talks to; any when absent. */
  readonly port?: number;
  /** What a finding counts then. A name proves nothing, so it is shown all the same. */
  readonly severity?: "warning";
  readonly reason: string;
  /** A command line, and the file or address that the finding is about. */
  readonly example: { readonly command: string; readonly about?: string };
}

const CREDENTIALS = ["credential-then-connect", "refused-attempt"];
const FETCHED = ["download-then-exec", "write-then-exec"];

/** One row for each habit; the first that fits counts. */
export const HABITS: readonly Habit[] = [
  // A package manager, or client, reads the token for its own server at every start.
  {
    patterns: CREDENTIALS,
    tool: /^(npm|npx|pnpm|yarn|bun)$/,
    files: /\/(\.?npmrc|\.yarnrc(\.yml)?)$|\/\.config\/(npm|pnpm|yarn)\//,
    reason: "it reads its configuration, with the registry's token, at every start",
    example: { command: "node /usr/bin/npm ci", about: "/home/user/.npmrc" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^(pip[\d.]*|uv|poetry|twine)$/,
    files: /\/(\.pypirc|\.netrc|pip\.conf)$|\/\.config\/(pip|pypoetry|uv)\//,
    reason: "it reads its configuration, with the index's token, at every start",
    example: { command: "python3 -m pip install x", about: "/home/user/.netrc" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^(cargo|gem|bundle|composer)$/,
    files: /\/\.(cargo|gem)\/credentials(\.toml)?$|\/(\.netrc|auth\.json)$/,
    reason: "it reads the token for its registry at every start",
    example: { command: "cargo fetch", about: "/home/user/.cargo/credentials.toml" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^git(-remote-https?|-credential-store|-lfs)?$/,
    files: /\/(\.git-credentials|\.netrc)$|\/\.config\/git\/credentials$/,
    reason: "it logs in to the server of the repository",
    example: { command: "git-remote-https origin", about: "/home/user/.git-credentials" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^(ssh|scp|sftp|ssh-add|ssh-keygen)$/,
    files: /\/\.ssh\//,
    reason: "it logs in with the user's keys",
    example: { command: "ssh host", about: "/home/user/.ssh/id_ed25519" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^(curl|wget)$/,
    files: /\/\.netrc$/,
    reason: "it looks for a login of the server that it is asked for",
    example: { command: "curl -n https://example.org", about: "/home/user/.netrc" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^(docker|podman|buildah|skopeo)$/,
    files: /\/\.docker\/config\.json$|\/containers\/auth\.json$/,
    reason: "it logs in to image registries",
    example: { command: "docker pull x", about: "/home/user/.docker/config.json" },
  },
  {
    patterns: CREDENTIALS,
    tool: /^(aws|az|gcloud|kubectl|helm|terraform|gh|glab)$/,
    files: /\/\.(aws|azure|kube)\/|\/\.config\/(gcloud|gh|glab-cli)\/|\/\.terraform\.d\//,
    reason: "it logs in to its own service",
    example: { command: "kubectl get pods", about: "/home/user/.kube/config" },
  },
  {
    patterns: ["credential-then-connect"],
    port: 53,
    severity: "warning",
    reason: "every name is looked up at a name server, though data can leave this way too",
    example: { command: "./program", about: "192.0.2.53:53" },
  },

  // What is installed, or built, is run.
  {
    patterns: FETCHED,
    tool: /^(npm|npx|pnpm|yarn|bun|pip[\d.]*|uv|poetry|gem|bundle|composer)$/,
    severity: "warning",
    reason: "it runs the install scripts of packages, which deserve a look of their own",
    example: { command: "node /usr/lib/node_modules/npm/bin/npm-cli.js ci" },
  },
  {
    patterns: FETCHED,
    tool: /^(ld(\.\w+)?|collect2|as|cc1(plus)?|gcc|g\+\+|cc|c\+\+|clang(\+\+)?(-\d+)?|go|link|rustc|cargo|make|ninja|libtool)$/,
    reason: "a build runs what it has built",
    example: { command: "/usr/bin/ld -o conftest" },
  },
  {
    patterns: FETCHED,
    tool: /^(dpkg(-deb)?|apt(-get)?|rpm|dnf|apk|pacman)$/,
    severity: "warning",
    reason: "it installs programs, and runs their scripts",
    example: { command: "dpkg -i x.deb" },
  },
  {
    patterns: ["mass-deletion"],
    tool: /^(npm|npx|pnpm|yarn|bun)$/,
    files: /\/(node_modules|_cacache)\//,
    reason: "an installation replaces node_modules",
    example: { command: "npm ci", about: "/srv/app/node_modules/a/index.js" },
  },
  {
    patterns: ["mass-deletion"],
    tool: /^git$/,
    reason: "changing branches and cleaning replace the files of a work tree",
    example: { command: "git checkout main" },
  },

  // Shells, and those who keep logs.
  {
    patterns: ["covered-tracks"],
    tool: /^(ba|z|k|fi)?sh$/,
    files: /\/\.[a-z]*sh_history$/,
    reason: "a shell writes its history anew when it ends",
    example: { command: "bash", about: "/home/user/.bash_history" },
  },
  {
    patterns: ["covered-tracks"],
    tool: /^(logrotate|rsyslogd|systemd-journal(d)?|savelog|dpkg|apt(-get)?)$/,
    files: /^\/var\/log\//,
    reason: "it keeps these logs",
    example: { command: "logrotate /etc/logrotate.conf", about: "/var/log/syslog" },
  },
  {
    patterns: ["looks-into-others"],
    tool: /^(ps|top|htop|pgrep|pkill|pidof|killall|lsof|fuser|ss|netstat|w)$/,
    reason: "it lists processes",
    example: { command: "ps aux" },
  },
  {
    patterns: ["looks-into-others"],
    tool: /^(gdb|lldb|strace|ltrace|perf|rr)$/,
    reason: "it is a debugger",
    example: { command: "gdb -p 7" },
  },
  {
    patterns: ["failed-opens"],
    tool: /^(cc1(plus)?|cpp|clang(\+\+)?(-\d+)?|ld(\.\w+)?|collect2)$/,
    reason: "it looks for headers and libraries along a path",
    example: { command: "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 x.c" },
  },
];

/** What a finding is about, as far as its pattern knows. */
interface About {
  readonly files?: readonly string[];
  readonly address?: string;
}

export function habitOf(
  pattern: string,
  process: Pick<TracedProcess, "exe" | "argv">,
  { files = [], address }: About = {},
): Habit | undefined {
  const tool = toolName(process);
  return HABITS.find(
    (habit) =>
      habit.patterns.includes(pattern) &&
      (habit.tool === undefined || habit.tool.test(tool)) &&
      (habit.files === undefined || (files.length > 0 && files.every((file) => habit.files!.test(file)))) &&
      (habit.port === undefined || address?.endsWith(`:${habit.port}`) === true),
  );
}

/** The finding as it counts where this is a habit. */
export function weighed(finding: PatternFinding, habit: Habit | undefined): PatternFinding {
  if (!habit) return finding;
  const { severity = "notice", reason } = habit;
  return { ...finding, severity, title: `${finding.title} (ordinary: ${reason})` };
}

const INTERPRETER = /^(node(js)?|bun|deno|python[\d.]*|ruby[\d.]*|perl[\d.]*|php[\d.]*)$/;

/** `npm` for `node /usr/bin/npm ci` and for `node …/npm-cli.js`, `pip` for `python3 -m pip`. */
function toolName({ exe, argv }: Pick<TracedProcess, "exe" | "argv">): string {
  const program = baseName(exe || argv[0] || "");
  if (!INTERPRETER.test(program)) return program;
  const at = argv.findIndex((word, i) => i > 0 && (word === "-m" || !word.startsWith("-")));
  const script = argv[at] === "-m" ? argv[at + 1] : argv[at];
  return script === undefined ? program : baseName(script).replace(/(-cli)?\.[cm]?(js|py|rb)$/, "");
}

const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);
