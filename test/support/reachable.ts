import { chmodSync, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

const copies = new Map<string, string>();
/** The test's runner, which removes it, has another instance of this module. */
const state = globalThis as { hermesReachable?: string };

/**
 * The same file where every user can execute it: the checkout may lie in a folder of one user alone, as `mktemp -d` makes
 * it. Copies last as long as this process, or its test file.
 */
export function reachable(file: string): string {
  if (isOpenToAll(dirname(file))) return file;
  const known = copies.get(file);
  if (known !== undefined) return known;
  state.hermesReachable ??= ownFolder();
  const copy = join(state.hermesReachable, basename(file));
  copyFileSync(file, copy);
  chmodSync(copy, 0o755);
  copies.set(file, copy);
  return copy;
}

function ownFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "hermes-reachable-"));
  chmodSync(made, 0o755);
  process.once("exit", removeReachable);
  return made;
}

export function removeReachable(): void {
  if (state.hermesReachable) rmSync(state.hermesReachable, { recursive: true, force: true });
}

function isOpenToAll(path: string): boolean {
  if ((statSync(path).mode & 0o001) === 0) return false;
  return path === "/" || isOpenToAll(dirname(path));
}
