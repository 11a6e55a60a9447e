import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.js";

/** Builds test/programs/NAME.c (or NAME as it is, with g++ for C++) once per content and flags, and returns the binary's path. */
export function program(name: string, ...flags: string[]): string {
  const isPlusPlus = name.endsWith(".cc");
  const source = join(root, "test/programs", isPlusPlus ? name : `${name}.c`);
  const version = createHash("sha256")
    .update(readFileSync(source))
    .update(flags.join(" "))
    .digest("hex")
    .slice(0, 12);
  const binary = join(root, "build/programs", `${name}-${version}`);
  if (!existsSync(binary)) {
    mkdirSync(join(root, "build/programs"), { recursive: true });
    const draft = `${binary}.${process.pid}`;
    execFileSync(
      isPlusPlus ? "g++" : "gcc",
      ["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", draft, source, ...flags],
      {
        stdio: "pipe",
      },
    );
    renameSync(draft, binary);
  }
  return binary;
}
