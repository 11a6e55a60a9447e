import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const UNISTD = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"];

/** name -> number as this machine's own header has them. */
export function machineNumbers(): Map<string, number> {
  const path = UNISTD.find((file) => existsSync(file));
  if (!path) throw new Error("asm/unistd_64.h is missing: apt-get install linux-libc-dev");
  const lines = readFileSync(path, "utf8").matchAll(/^#define __NR_(\w+)\s+(\d+)$/gm);
  return new Map([...lines].map(([, name, nr]) => [name!, Number(nr)]));
}

/** Compiles and runs a program that prints "name value" lines for expressions; names the headers lack are left out. */
export function evaluateC(includes: string[], expressions: Record<string, string>): Map<string, number> {
  const dir = mkdtempSync(join(tmpdir(), "abi-test-"));
  try {
    const lines = Object.entries(expressions).flatMap(([name, expression]) => {
      const print = `  printf("%s %lld\\n", "${name}", (long long)(${expression}));`;
      return expression === name ? [`#ifdef ${name}`, print, "#endif"] : [print];
    });
    const head = [
      "#define _GNU_SOURCE",
      ...includes.map((name) => `#include <${name}>`),
      "#include <stdio.h>",
    ];
    const source = [...head, "int main(void) {", ...lines, "  return 0;", "}", ""].join("\n");
    writeFileSync(join(dir, "values.c"), source);
    execFileSync("gcc", ["-Wall", "-o", join(dir, "values"), join(dir, "values.c")], { stdio: "inherit" });
    const output = execFileSync(join(dir, "values"), { encoding: "utf8" }).trimEnd();
    return new Map(output.split("\n").map((line) => [line.split(" ")[0]!, Number(line.split(" ")[1])]));
  } finally {
    rmSync(dir, { recursive: true });
  }
}
