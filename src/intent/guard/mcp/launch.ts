import type { Action } from "../finding.js";
import { lookalikeOf } from "../packages/lookalike.js";
import type { PackageReference } from "./advisory.js";
import type { DescribedServer } from "./reading.js";
import { isExact } from "./version.js";

interface LaunchFinding {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

/** What starting a server would download and run. */
interface ServerLaunch {
  readonly packages: readonly PackageReference[];
  readonly findings: readonly LaunchFinding[];
}

const NOTHING: ServerLaunch = { packages: [], findings: [] };
const deny = (rule: string, reason: string): LaunchFinding => ({ rule, action: "deny", reason });
const ask = (rule: string, reason: string): LaunchFinding => ({ rule, action: "ask", reason });
const note = (rule: string, reason: string): LaunchFinding => ({ rule, action: "allow", reason });

/** Options of package runners with a value, so that the value does not count as the package. */
const VALUED = new Set([
  "-p",
  "--package",
  "-c",
  "--call",
  "--registry",
  "--cache",
  "-w",
  "--workspace",
  "--prefix",
  "--userconfig",
  "--from",
  "--with",
  "--python",
  "--index-url",
  "-i",
  "--extra-index-url",
  "--index",
  "--default-index",
  "--find-links",
  "-f",
  "--spec",
  "--pip-args",
  "--directory",
  "--project",
  "--node-options",
]);
const PACKAGE_OPTION = new Set(["-p", "--package", "--from", "--spec", "--with"]);
const REGISTRY_OPTION = new Set([
  "--registry",
  "--index-url",
  "-i",
  "--extra-index-url",
  "--index",
  "--default-index",
  "--find-links",
]);

/** The official registries of the ecosystems. */
const REGISTRY =
  /^https:\/\/(?:registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|pypi\.org|files\.pythonhosted\.org|test\.pypi\.org)(?:\/|$)/;

export function launchOf({ command = "", args }: DescribedServer): ServerLaunch {
  const words = [command, ...args];
  const program = nameOf(words[0] ?? "");
  if (program === "env" || /^\w+=/.test(words[0] ?? ""))
    return launchOf({ name: "", env: {}, ...skipEnv(words) });
  if (["sudo", "doas", "nice", "nohup", "timeout", "stdbuf", "cmd"].includes(program))
    return unwrapped(program, words.slice(1));
  if (["npx", "bunx", "pnpx"].includes(program)) return fromPackage("npm", words.slice(1));
  if (["npm", "pnpm", "yarn", "bun"].includes(program) && /^(?:exec|x|dlx|create|init)$/.test(words[1] ?? ""))
    return fromPackage("npm", words.slice(2));
  if (program === "uvx") return fromPackage("PyPI", words.slice(1));
  if (program === "uv" && words[1] === "tool" && words[2] === "run")
    return fromPackage("PyPI", words.slice(3));
  if (program === "uv" && words[1] === "run") return fromUvRun(words.slice(2));
  if (program === "pipx" && words[1] === "run") return fromPackage("PyPI", words.slice(2));
  if (["docker", "podman", "nerdctl"].includes(program)) return fromImage(words.slice(1));
  if (["node", "deno", "bun", "tsx", "ts-node"].includes(program) || /^(?:python|py)[\d.]*$/.test(program))
    return fromInterpreter(program, words.slice(1));
  return { ...NOTHING, findings: placeOf(words[0] ?? "") };
}

function nameOf(word: string): string {
  return word
    .split(/[/\\]/)
    .at(-1)!
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat)$/, "");
}

function skipEnv(words: readonly string[]): { command: string; args: string[] } {
  const rest = words.slice(nameOf(words[0]!) === "env" ? 1 : 0);
  while (
    rest.length > 0 &&
    (/^\w+=/.test(rest[0]!) || (/^-[iu0]?/.test(rest[0]!) && rest[0]!.startsWith("-")))
  )
    rest.shift();
  return { command: rest[0] ?? "", args: rest.slice(1) };
}

function unwrapped(program: string, rest: readonly string[]): ServerLaunch {
  const at = rest.findIndex((word) => !/^[-/]/.test(word) && !(program === "timeout" && /^\d/.test(word)));
  const inner =
    at < 0 ? NOTHING : launchOf({ name: "", env: {}, command: rest[at]!, args: rest.slice(at + 1) });
  if (program !== "sudo" && program !== "doas") return inner;
  return {
    ...inner,
    findings: [deny("privileged-server", "An MCP server must not run as root."), ...inner.findings],
  };
}

/** Programs are not installed in hidden folders or in folders that every user can write to. */
function placeOf(path: string): LaunchFinding[] {
  if (/^(?:\/tmp|\/var\/tmp|\/dev\/shm|%temp%|c:\\(?:windows\\temp|users\\public))(?:[/\\]|$)/i.test(path))
    return [deny("server-in-tmp", `${path} is in a folder that every user can write to.`)];
  return /\/downloads\//i.test(path) ? [ask("server-in-tmp", `${path} is in a download folder.`)] : [];
}

function fromPackage(ecosystem: PackageReference["ecosystem"], words: readonly string[]): ServerLaunch {
  const findings: LaunchFinding[] = [];
  const specs: string[] = [];
  let own: string | undefined;
  for (let i = 0; i < words.length && own === undefined; i++) {
    const word = words[i]!;
    const [option, joined] =
      word.startsWith("--") && word.includes("=")
        ? [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]
        : [word, undefined];
    if (!word.startsWith("-")) own = word;
    else if (VALUED.has(option)) {
      const value = joined ?? words[++i] ?? "";
      if (PACKAGE_OPTION.has(option)) specs.push(value);
      if (REGISTRY_OPTION.has(option) && !REGISTRY.test(value)) findings.push(foreignRegistry(value));
      if (option === "-c" || option === "--call")
        findings.push(ask("inline-code", "This runs a shell command through the package runner."));
    } else if (/^--(?:trusted-host|allow-insecure-host|unsafe-perm)/.test(option))
      findings.push(deny("foreign-registry", `${option} switches off the protection of downloads.`));
  }
  // With --from or -p, the first word is only a program of that package.
  const all = specs.length > 0 ? specs : own !== undefined ? [own] : [];
  const read = all.map((spec) => packageOf(ecosystem, spec));
  return {
    packages: read.flatMap(({ packages }) => packages),
    findings: [...findings, ...read.flatMap((one) => one.findings)],
  };
}

function foreignRegistry(value: string): LaunchFinding {
  return /^https:\/\//.test(value)
    ? ask(
        "foreign-registry",
        `The package comes from ${value}, not from the registry that the advisories cover.`,
      )
    : deny(
        "foreign-registry",
        `The package comes from ${value || "nowhere"} over an unprotected connection.`,
      );
}

function packageOf(ecosystem: PackageReference["ecosystem"], spec: string): ServerLaunch {
  if (
    /^(?:git\+|git:|https?:|ssh:|github:|gitlab:|bitbucket:|gist:|file:)|\.(?:tgz|tar\.gz|whl|zip)$|^[\w.-]+\/[\w.-]+(?:#|$)/i.test(
      spec,
    ) &&
    !spec.startsWith("@")
  ) {
    const pinned = /(?:#|@)[0-9a-f]{40}$/i.test(spec);
    const insecure = /^(?:git\+)?(?:http|git):\/\//i.test(spec);
    return {
      ...NOTHING,
      findings: [
        insecure
          ? deny("unreviewed-source", `${spec} is downloaded unprotected, not from the registry.`)
          : pinned
            ? note("unreviewed-source", `${spec} does not come from the registry.`)
            : ask("unreviewed-source", `${spec} does not come from the registry and can change at any time.`),
      ],
    };
  }
  if (/^[./~]/.test(spec)) return NOTHING;
  const at = ecosystem === "npm" ? spec.lastIndexOf("@") : -1;
  const [name, version] =
    ecosystem === "npm"
      ? at > 0
        ? [spec.slice(0, at), spec.slice(at + 1)]
        : [spec, undefined]
      : pythonSpec(spec);
  if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name))
    return { ...NOTHING, findings: [deny("bad-package", `${spec} is not a package name.`)] };
  const twin = lookalikeOf(name, ecosystem) ?? mcpTwin(name);
  const exact = isExact(version) ? version.replace(/^v/, "") : undefined;
  const findings = twin
    ? [(twin.known ? deny : ask)("look-alike-package", `${name} looks like ${twin.of} but is not.`)]
    : [];
  if (exact === undefined)
    findings.push(
      note("unpinned-package", `${spec} is not pinned and can change: pin a release, e.g. ${name}@1.2.3.`),
    );
  return { packages: [{ ecosystem, name, ...(exact !== undefined && { version: exact }) }], findings };
}

function pythonSpec(spec: string): [string, string | undefined] {
  const [, name = spec, version] =
    /^([\w.-]+)(?:\[[\w,.-]*\])?(?:(?:===?|@)\s*([\w.!+-]+)|[<>~!].*)?$/.exec(spec) ?? [];
  return [name, version];
}

/** Servers that many people know by name. */
const KNOWN_SERVERS = [
  "@modelcontextprotocol/server-filesystem",
  "@modelcontextprotocol/server-github",
  "@modelcontextprotocol/server-memory",
  "@modelcontextprotocol/server-everything",
  "@modelcontextprotocol/server-sequential-thinking",
  "@modelcontextprotocol/server-puppeteer",
  "@modelcontextprotocol/server-postgres",
  "@modelcontextprotocol/server-slack",
  "@modelcontextprotocol/server-brave-search",
  "@modelcontextprotocol/server-google-maps",
  "@modelcontextprotocol/server-gdrive",
  "@modelcontextprotocol/server-gitlab",
  "@modelcontextprotocol/inspector",
  "mcp-server-git",
  "mcp-server-fetch",
  "mcp-server-time",
  "mcp-server-sqlite",
  "mcp-remote",
  "@playwright/mcp",
  "@upstash/context7-mcp",
  "@supabase/mcp-server-supabase",
  "@notionhq/notion-mcp-server",
  "firecrawl-mcp",
  "exa-mcp-server",
  "tavily-mcp",
  "chrome-devtools-mcp",
  "figma-developer-mcp",
  "desktop-commander",
  "@wonderwhy-er/desktop-commander",
  "@browsermcp/mcp",
];

/** The scope or the words of a known server, slightly changed. */
function mcpTwin(name: string): { of: string; known: boolean } | undefined {
  if (KNOWN_SERVERS.includes(name)) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[@/_.-]/g, "");
  const own = plain(name);
  for (const server of KNOWN_SERVERS) {
    if (plain(server) === own) return { of: server, known: true };
    if (server.length >= 10 && Math.abs(name.length - server.length) <= 2 && distance(name, server) <= 2)
      return { of: server, known: server.startsWith("@modelcontextprotocol") };
  }
  const scope = name.split("/")[0]!;
  if (!scope.startsWith("@") || scope === "@modelcontextprotocol") return undefined;
  // The protocol's own scope has only one spelling.
  if (/model-?context-?protocol|modelcontext|mcp-?official/.test(scope))
    return { of: "@modelcontextprotocol", known: false };
  const near = KNOWN_SERVERS.find(
    (server) =>
      server.startsWith("@") &&
      scope.length >= 9 &&
      distance(scope, server.split("/")[0]!) <= 3 &&
      scope !== server.split("/")[0],
  );
  return near === undefined ? undefined : { of: near, known: false };
}

/** How many letters differ (Levenshtein); names are short. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

function fromUvRun(words: readonly string[]): ServerLaunch {
  const extra = words.flatMap((word, i) =>
    word === "--with" ? [words[i + 1] ?? ""] : word.startsWith("--with=") ? [word.slice(7)] : [],
  );
  const read = extra.map((spec) => packageOf("PyPI", spec));
  return {
    packages: read.flatMap(({ packages }) => packages),
    findings: read.flatMap(({ findings }) => findings),
  };
}

/** Flags that disable a container's isolation. */
const OPEN_CONTAINER =
  /^(?:--privileged|--cap-add(?:=|$)|--pid=host|--ipc=host|--userns=host|--uts=host|--device(?:=|$)|--security-opt=(?:seccomp|apparmor)=unconfined)/;
const OPEN_MOUNT =
  /^(?:\/|\/etc|\/root|\/home|\/var\/run\/docker\.sock|\/run\/docker\.sock|~|\$\{?HOME\}?|\/proc|\/sys|\/boot|(?:~|\$\{?HOME\}?)\/\.(?:ssh|aws|gnupg|kube|docker|config))\/?:/;

function fromImage(words: readonly string[]): ServerLaunch {
  const findings: LaunchFinding[] = [];
  if (!/^(?:run|container|compose|mcp|exec)$/.test(words[0] ?? "")) return NOTHING;
  for (const [i, word] of words.entries()) {
    const value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : (words[i + 1] ?? "");
    if (OPEN_CONTAINER.test(word) || (/^--(?:pid|ipc|userns|uts)$/.test(word) && value === "host"))
      findings.push(deny("open-container", `${word} disables the container's isolation.`));
    if (
      word === "--network=host" ||
      word === "--net=host" ||
      (/^--net(?:work)?$/.test(word) && value === "host")
    )
      findings.push(ask("open-container", "The container shares the host's network."));
    if (/^(?:-v|--volume)(?:=|$)/.test(word) && OPEN_MOUNT.test(value))
      findings.push(deny("open-mount", `${value} gives the container access to the host's files.`));
    if (
      /^--mount(?:=|$)/.test(word) &&
      /(?:src|source)=(?:\/|\/etc|\/root|\/var\/run\/docker\.sock|~)(?:,|$)/.test(value)
    )
      findings.push(deny("open-mount", `${value} gives the container access to the host's files.`));
  }
  return { packages: [], findings };
}

function fromInterpreter(program: string, words: readonly string[]): ServerLaunch {
  const inline = words.findIndex((word) => /^(?:-e|--eval|-p|--print|-c|eval)$/.test(word));
  const findings: LaunchFinding[] = [];
  if (inline >= 0 && !words.slice(0, inline).some((word) => !word.startsWith("-")))
    findings.push(
      ask("inline-code", "The server is code on a command line, which cannot be reviewed or pinned."),
    );
  if (words.some((word) => /^https?:\/\//.test(word)) && program === "deno")
    findings.push(ask("unreviewed-source", "The server is downloaded from a URL at each start."));
  const script = words.find((word) => !word.startsWith("-"));
  return { packages: [], findings: [...findings, ...placeOf(script ?? "")] };
}
