import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HOME } from "../../src/nouns/home.js";

/** Policies that come with HERMES go by their names wherever a policy's file is asked for. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-shipped-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function hermes(...words: string[]) {
  return spawnSync(`${HOME}hermes`, words, { cwd: folder, encoding: "utf8" });
}

it.each(["agent", "no-network", "no-secrets", "firewall"])("%s is found", (name) => {
  const { status, stdout } = hermes("policy", "check", name);
  expect([status, stdout]).toEqual([0, expect.stringContaining(`${HOME}policies/${name}.`)]);
});

it("is listed with what it is for, and shown", () => {
  const listed = JSON.parse(hermes("policy", "list", "--json").stdout) as Record<string, string>[];
  expect(listed.map(({ file }) => file!.replace(`${HOME}policies/`, "")).sort()).toEqual(
    readdirSync(`${HOME}policies`).sort(),
  );
  for (const { name, file, description } of listed) {
    expect(description, name).toMatch(/^[A-Z].{10,}/);
    expect(hermes("policy", "show", name!).stdout).toBe(readFileSync(file!, "utf8"));
  }
  const text = hermes("policy", "list").stdout;
  expect(text).toMatch(/^untrusted +yaml {2}For an unknown program/m);
  expect(text.split("\n")).toHaveLength(listed.length + 1);
});

it("that does not exist is not shown, and the others are named", () => {
  const { status, stderr } = hermes("policy", "show", "../package.json");
  expect([status, stderr]).toEqual([125, expect.stringContaining("shipped: agent")]);
});

it("is in force as its file is", () => {
  const { status, stderr, stdout } = hermes(
    "run",
    "-p",
    "agent",
    "--",
    "sh",
    "-c",
    "cat /etc/shadow; echo on",
  );
  expect([status, stdout]).toEqual([0, "on\n"]);
  expect(stderr).toMatch(/deny +hidden +×1 +agent\/accounts/);
});

it("is meant by its bare name, whatever lies in the folder; a path means the file", () => {
  writeFileSync(join(folder, "agent"), "");
  const byName = hermes("run", "-p", "agent", "--", "true");
  const byPath = hermes("run", "-p", "./agent", "--", "true");
  rmSync(join(folder, "agent"));
  expect(byName.status).toBe(0);
  expect([byPath.status, byPath.stderr]).toEqual([
    125,
    expect.stringContaining('"" is not a policy language'),
  ]);
});
