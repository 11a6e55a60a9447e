#!/usr/bin/env node
// `npm run release -- 0.2.0`: sets the version, completes its changelog entry, makes one commit and a signed tag. It does
// not push or publish; it prints the two commands that do. Signing uses git's settings (user.signingkey, gpg.format).
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const git = (...words) =>
  execFileSync("git", words, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function fail(message) {
  process.stderr.write(`release: ${message}\n`);
  process.exit(1);
}

const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
  fail("give it a version, for example: npm run release -- 0.2.0");
if (git("status", "--porcelain") !== "") fail("there are changes that are not committed");
if (git("tag", "--list", `v${version}`) !== "") fail(`v${version} exists already`);

const changelog = readFileSync("CHANGELOG.md", "utf8");
const [, changes] = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog) ?? [];
if (!changes?.trim()) fail("CHANGELOG.md has nothing under ## Unreleased");

const today = new Date().toISOString().slice(0, 10);
writeFileSync(
  "CHANGELOG.md",
  changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${version} (${today})\n`),
);
for (const file of ["package.json", "package-lock.json"]) {
  const content = JSON.parse(readFileSync(file, "utf8"));
  content.version = version;
  if (content.packages) content.packages[""].version = version;
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
git("commit", "--quiet", "--all", "--message", `Version ${version}`);
git("tag", "--sign", `v${version}`, "--message", `hermes-runtime ${version}\n${changes}`);
process.stdout.write(
  `v${version} is committed and its tag signed. To publish:\n  git push --follow-tags\n  npm publish --provenance\n`,
);
