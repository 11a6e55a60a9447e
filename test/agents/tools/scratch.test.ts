import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { removeScratch, scratchFolder, sweepScratch } from "../../../src/agents/tools/scratch.js";
import { root } from "../../support/root.js";
import { temporary } from "./world.js";

/** A program of our sources that says which folder it has, and waits. */
function host(): string {
  const file = join(temporary(), "host.mjs");
  const script = `import { scratchFolder } from "./src/agents/tools/scratch.ts";
    import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
    const folder = await scratchFolder();
    mkdirSync(folder + "/a/b", { recursive: true });
    writeFileSync(folder + "/a/b/c", "x");
    chmodSync(folder + "/a", 0);
    console.log(folder);
    setInterval(() => {}, 1000);`;
  const options = ["--bundle", "--platform=node", "--format=esm", `--outfile=${file}`, "--log-level=error"];
  execFileSync(join(root, "node_modules/.bin/esbuild"), options, { input: script, cwd: root });
  return file;
}

describe("a scratch folder", () => {
  it("can be entered by its owner alone", async () => {
    const folder = await scratchFolder();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await removeScratch(folder);
    expect(existsSync(folder)).toBe(false);
  });

  it("is removed with all that was put into it, and nothing that links lead to", async () => {
    const folder = await scratchFolder();
    const other = temporary();
    writeFileSync(join(other, "kept"), "");
    symlinkSync(other, join(folder, "link"));
    mkdirSync(join(folder, "closed/in"), { recursive: true });
    chmodSync(join(folder, "closed"), 0);
    const deep = `import os
for i in range(300):
    os.mkdir('d' * 100)
    os.chdir('d' * 100)
open(b'\\xff', 'w')`;
    execFileSync("python3", ["-c", deep], { cwd: folder });
    await removeScratch(folder);
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(join(other, "kept"))).toBe(true);
  });

  it("of a killed host is removed at the next start, of a living one it is not", async () => {
    const child = spawn(process.execPath, [host()], { stdio: ["ignore", "pipe", "inherit"] });
    const folder = String((await once(child.stdout, "data"))[0]).trim();
    await sweepScratch();
    expect(existsSync(folder)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    await sweepScratch();
    expect(existsSync(folder)).toBe(false);
  });
});
