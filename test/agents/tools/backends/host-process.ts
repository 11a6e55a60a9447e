import { type ChildProcessByStdio, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import type { RunOrder } from "../../../../src/agents/tools/backend.js";
import type { BackendSection } from "../../../../src/intent/guard/config/backend.js";
import { root } from "../../../support/root.js";

/** A copy of the package that any user can read, and processes of programs that use it. */
export class Installed {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-installed-"));

  static async make(): Promise<Installed> {
    const installed = new Installed();
    await build({
      entryPoints: [join(root, "test/agents/tools/backends/host.ts")],
      outfile: join(installed.folder, "host.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
      external: ["libsql", "pg", "re2js", "wasmoon"],
      banner: {
        js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
      },
    });
    return installed;
  }

  private constructor() {
    chmodSync(this.folder, 0o755);
    for (const name of ["dist", "policies", "package.json", "node_modules/re2js"])
      cpSync(join(root, name), join(this.folder, name), { recursive: true });
  }

  start(
    backend: BackendSection,
    order: RunOrder,
    user: { uid?: number; gid?: number } = {},
  ): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(process.execPath, [join(this.folder, "host.mjs"), JSON.stringify({ backend, order })], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.folder,
      ...user,
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
