/** No kernel takes more. */
export const LONGEST_PATH = 4096;

/** Both separators count: a path that is checked here may be used on either kind of system. */
export function components(path: string): string[] {
  return path.split(/[/\\]+/).filter((part) => part !== "");
}

/** Windows ignores spaces after a name, and servers what follows a semicolon: `.. ` and `..;x` go up as well. */
const UP = /^\.\.(?: +| *;.*)?$/;

/** With every spelling of `..` as `..`. */
export function plainUps(path: string): string {
  return path.includes("..") ? path.replace(/(^|[/\\])\.\.(?: +| *;[^/\\]*)(?=$|[/\\])/g, "$1..") : path;
}

/** Whether any component is `..`, wherever it would lead. */
export function hasTraversalComponent(path: string): boolean {
  return path.includes("..") && components(path).some((part) => UP.test(part));
}

/** `C:\x`, `C:x`, `\\server\share`, `\\?\…`. */
export function isWindowsAbsolute(path: string): boolean {
  return /^(?:[A-Za-z]:[/]|[A-Z]:(?:$|[^/:]+$)|\\|\/\/[?.]\/)/.test(path);
}

/** Lexical: `.` and `..` are worked off, nothing is asked of a file system. Always absolute, with forward slashes. */
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

/** Both absolute and lexical. */
export function isInside(path: string, root: string): boolean {
  return root === "/" || path === root || path.startsWith(`${root}/`);
}

const SCHEME = /^(?:file|unix|http\+unix):(?:\/\/(?:localhost)?)?(?=[/~$])/i;

/** `~/x` and `$HOME/x` as a shell would read them; `file:` as a browser would. */
export function expandHome(path: string, home: string): string {
  if (SCHEME.test(path)) return expandHome(path.replace(SCHEME, ""), home);
  const match = /^(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|\$env:USERPROFILE)(?=$|[/\\])/i.exec(path);
  return match ? home + path.slice(match[0].length) : path;
}
