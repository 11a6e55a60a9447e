import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root } from "./root.js";

export const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

/** A copy of the build that an ordinary user can read, wherever this checkout lies, and a folder that is theirs. */
export class OrdinaryUser {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-nobody-"));
  readonly own = join(this.folder, "own");

  constructor() {
    chmodSync(this.folder, 0o755);
    cpSync(join(root, "dist"), join(this.folder, "dist"), { recursive: true });
    cpSync(join(root, "policies"), join(this.folder, "policies"), { recursive: true });
    for (const file of ["package.json", "hermes"]) cpSync(join(root, file), join(this.folder, file));
    mkdirSync(this.own);
    if (isRoot) chownSync(this.own, NOBODY, NOBODY);
  }

  /** The command line. */
  get hermes(): string {
    return join(this.folder, "hermes");
  }

  /** A program that they can execute. */
  give(binary: string): string {
    const copy = join(this.folder, basename(binary));
    cpSync(binary, copy);
    chmodSync(copy, 0o755);
    return copy;
  }

  /** Runs an ES module of this text as they; it imports from "./dist/index.js". */
  run(script: string): SpawnSyncReturns<string> {
    const file = join(this.folder, "script.mjs");
    writeFileSync(file, script);
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const env = { PATH: process.env.PATH };
    return spawnSync(process.execPath, [file], {
      cwd: this.own,
      encoding: "utf8",
      env,
      timeout: 110_000,
      ...user,
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
