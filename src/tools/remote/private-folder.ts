import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that nobody else can look into, named after the process that must remove it. */
export class PrivateFolder {
  readonly path: string;

  constructor(kind: string) {
    removeForgotten(kind);
    this.path = mkdtempSync(join(tmpdir(), `hermes-${kind}-${process.pid}-`));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Those of processes that were killed before they could clean up. */
function removeForgotten(kind: string): void {
  const named = new RegExp(`^hermes-${kind}-(\\d+)-\\w+$`);
  for (const name of readdirSync(tmpdir())) {
    const pid = named.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
