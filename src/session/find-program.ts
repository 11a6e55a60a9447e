import { accessSync, constants, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { HermesError } from "../nouns/errors.js";

/** confstr(_CS_PATH): what execvp uses when there is no PATH. */
const DEFAULT_PATH = "/bin:/usr/bin";

/**
 * Finds a program as a shell does: by PATH unless the name has a slash. Distinguishes not found from not
 * executable.
 */
export function findProgram(program: string, path: string | undefined, cwd: string = process.cwd()): string {
  if (program === "") throw new HermesError("NOT_FOUND", { program: '""' });
  if (program.includes("/")) return program;
  let refused: string | undefined;
  for (const folder of (path ?? DEFAULT_PATH).split(":")) {
    const candidate = join(resolve(cwd, folder === "" ? "." : folder), program);
    const problem = executableProblem(candidate);
    if (problem === undefined) return candidate;
    if (problem !== "ENOENT" && problem !== "ENOTDIR") refused = problem;
  }
  throw refused === undefined
    ? new HermesError("NOT_FOUND", { program })
    : new HermesError("NOT_EXECUTABLE", { program, errno: refused });
}

function executableProblem(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return "EACCES";
    accessSync(file, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "EACCES";
  }
}
