/** The kernel's limit. */
export const LONGEST_PATH = 4096;

/** Both separators count: the path may be used on either kind of system. */
export function components(path: string): string[] {
  return path.split(/[/\\]+/).filter((part) => part !== "");
}

/** Windows ignores spaces after a name, and servers ignore text after a semicolon: `.. ` and `..;x` go up as well. */
const UP = /^\.\.(?: +| *;.*)?$/;

/** The path with every spelling of `..` as `..`. */
export function plainUps(path: string): string {
  return path.includes("..") ? path.replace(/(^|[/\\])\.\.(?: +| *;[^/\\]*)(?=$|[/\\])/g, "$1..") : path;
}

/** Whether any component is `..`, even if the path stays inside. */
export function hasTraversalComponent(path: string): boolean {
  return path.includes("..") && components(path).some((part) => UP.test(part));
}

/** `C:\x`, `C:x`, `\\server\share`, `\\?\…`. */
export function isWindowsAbsolute(path: string): boolean {
  return /^(?:[A-Za-z]:[/]|[A-Z]:(?:$|[^/:]+$)|\\|\/\/[?.]\/)/.test(path);
}

/** Lexical: resolves `.` and `..` without a file system. Always absolute, with forward slashes. */
export function lexical(path: string, cwd: string): string {
  const parts: string[] = [];
  const whole = path.startsWith("/") ? path : `${cwd}/${path}`;
  for (const part of whole.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Both paths must be absolute and lexical. */
export function isWithin(path: string, root: string): boolean {
  return root === "/" || path === root || path.startsWith(`${root}/`);
}

const SCHEME = /^(?:file|unix|http\+unix):(?:\/\/(?:localhost)?)?(?=[/~$])/i;

/** `~/x` and `$HOME/x` as a shell reads them; `file:` as a browser does. */
export function expandHome(path: string, home: string): string {
  if (SCHEME.test(path)) return expandHome(path.replace(SCHEME, ""), home);
  const match = /^(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|\$env:USERPROFILE)(?=$|[/\\])/i.exec(path);
  return match ? home + path.slice(match[0].length) : path;
}
