import type { Files } from "../layer.js";

/** What git itself writes into a clone's configuration: none of it runs anything. */
const PLAIN: Readonly<Record<string, RegExp>> = {
  core: /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf)\s*=/i,
  remote: /^(fetch\s*=|url\s*=\s*(https:\/\/|ssh:\/\/|[\w.-]+@[\w.-]+:)[^:\s]*(:\d+)?[^\s]*$)/i,
  branch: /^(remote|merge|rebase)\s*=/i,
};

/** Why a `.git` is more than history; undefined when it runs nothing. */
export function whyGitRuns(path: string, files: Files): string | undefined {
  if (files.lstat(path)?.kind !== "folder") return "leads to a repository elsewhere";
  if ((files.list(`${path}/modules`) ?? []).length > 0)
    return "has repositories inside, with hooks of their own";
  const hooks = (files.list(`${path}/hooks`) ?? []).filter((name) => !name.endsWith(".sample"));
  if (hooks.length > 0 || files.lstat(`${path}/hooks`)?.kind === "link")
    return `has hooks (${hooks.join(", ")})`;
  for (const name of ["config", "config.worktree"]) {
    const kind = files.lstat(`${path}/${name}`)?.kind;
    if (kind === undefined) continue;
    const line = kind === "file" ? oddLine(files.read(`${path}/${name}`) ?? "?") : "a link";
    if (line !== undefined) return `is configured with "${line}", which may run a command`;
  }
  return undefined;
}

function oddLine(config: string): string | undefined {
  let section = "";
  for (const raw of config.split(/\r?\n/)) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const [, name] = /^\[\s*([\w-]+)(?:\s+"[^"\\]*")?\s*\]$/.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase();
    else if (line.endsWith("\\") || !PLAIN[section]?.test(line)) return line.slice(0, 80);
  }
  return undefined;
}
