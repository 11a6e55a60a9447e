import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../support/root.js";

let folder: string;

const git = (...words: string[]) =>
  execFileSync("git", words, { cwd: folder, encoding: "utf8", stdio: "pipe" });
const release = (version: string) =>
  spawnSync(process.execPath, [join(root, "scripts/release.mjs"), version], {
    cwd: folder,
    encoding: "utf8",
  });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-release-"));
  for (const file of ["package.json", "package-lock.json", "CHANGELOG.md"])
    cpSync(join(root, file), join(folder, file));
  git("init", "--quiet");
  const key = `${folder}.key`;
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "keeper@example.org", "-f", key]);
  writeFileSync(`${key}.signers`, `keeper@example.org ${readFileSync(`${key}.pub`, "utf8")}`);
  for (const [name, value] of [
    ["user.name", "Keeper"],
    ["user.email", "keeper@example.org"],
    ["gpg.format", "ssh"],
    ["user.signingkey", key],
    ["gpg.ssh.allowedSignersFile", `${key}.signers`],
  ])
    git("config", name!, value!);
  git("add", ".");
  git("commit", "--quiet", "--message", "first");
});
afterAll(() => {
  for (const end of ["", ".key", ".key.pub", ".key.signers"])
    rmSync(folder + end, { recursive: true, force: true });
});

it("makes a version, its changelog and a tag whose signature holds", () => {
  expect(release("9.1.0").stderr).toBe("");
  expect(git("tag", "--list").trim()).toBe("v9.1.0");
  git("verify-tag", "v9.1.0");
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version).toBe("9.1.0");
  expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8")).toMatch(/## Unreleased\n\n## 9\.1\.0 \(\d{4}-/);
});

it("refuses what is no version, exists already, has no changes, or leaves changes behind", () => {
  expect(release("next").stderr).toContain("give it a version");
  expect(release("9.1.0").stderr).toContain("exists already");
  expect(release("9.2.0").stderr).toContain("nothing under");
  writeFileSync(join(folder, "CHANGELOG.md"), "# Changelog\n");
  expect(release("9.2.0").stderr).toContain("not committed");
  expect(git("tag", "--list").trim()).toBe("v9.1.0");
});
