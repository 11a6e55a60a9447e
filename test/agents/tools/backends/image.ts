import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A root file system with a static busybox and nothing else: not even a C library. */
export class BusyboxRoot {
  readonly path = mkdtempSync(join(tmpdir(), "hermes-rootfs-"));

  constructor() {
    chmodSync(this.path, 0o755);
    const bin = join(this.path, "bin");
    mkdirSync(bin);
    for (const name of ["etc", "opt"]) mkdirSync(join(this.path, name));
    copyFileSync("/bin/busybox", join(bin, "busybox"));
    const applets = execFileSync("/bin/busybox", ["--list"], { encoding: "utf8" }).trim().split("\n");
    for (const name of applets) if (name !== "busybox") symlinkSync("busybox", join(bin, name));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
