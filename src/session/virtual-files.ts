import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const load = createRequire(import.meta.url);

/** Virtual files of policies. They live in the session's own folder, and are removed with it. */
export class VirtualFiles {
  #folder: string | undefined;
  readonly #paths = new Map<string, string>();

  /** Created on first use. */
  get folder(): string {
    this.#folder ??= makeFolder();
    return this.#folder;
  }

  pathOf(content: string | Uint8Array): string {
    const { createHash } = load("node:crypto") as typeof import("node:crypto"); // takes 3 ms: only when needed
    const name = createHash("sha256").update(content).digest("hex").slice(0, 32);
    const known = this.#paths.get(name);
    if (known !== undefined) return known;
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode: 0o444 });
    this.#paths.set(name, path);
    return path;
  }

  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
    this.#paths.clear();
  }
}

/** The program may run as another user: it must be able to enter the folder, but not to list it. */
function makeFolder(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), "hermes-virtual-")));
  chmodSync(folder, 0o711);
  return folder;
}
