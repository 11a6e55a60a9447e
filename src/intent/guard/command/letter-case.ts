import type { Context } from "../layer.js";

/** Names of variables have a case everywhere. */
const VARIABLE_OR_CAPITAL = /(\$\{?\w+|\b[A-Za-z_]\w*=)|[A-Z]/g;

/**
 * The command as a machine runs it on which `SUDO` is `sudo`: where its file system takes capitals for small letters, and
 * in the strict profile, which refuses by name in any case. Undefined where that makes no difference.
 */
export function inSmallLetters(input: string, { profile, files }: Context): string | undefined {
  const small = input.replace(
    VARIABLE_OR_CAPITAL,
    (text, variable?: string) => variable ?? text.toLowerCase(),
  );
  if (small === input) return undefined;
  return profile === "strict" || ignoresCase(files) ? small : undefined;
}

/** Windows, macOS, and folders of Linux that were made so. */
function ignoresCase({ lstat }: Context["files"]): boolean {
  return process.platform === "win32" || (lstat("/USR") !== undefined && lstat("/usr") !== undefined);
}
