import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/intent/guard/config/load.js";
import { addToAllowList } from "../../../src/people/approval/allow-list.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-allow-"));
  file = join(folder, "hermes.yaml");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = () => readFileSync(file, "utf8");
const allowed = () =>
  loadConfig({ workspace: folder, home: folder, env: { HERMES_HOME: folder } }).config.approvals.allow;

describe("the allow-list in hermes.yaml", () => {
  it("keeps everything else as it is, comments too", async () => {
    writeFileSync(
      file,
      "# mine\nprofile: strict # very\n\napprovals:\n  mode: on\n  allow: [recursive delete] # by hand\n\nfiles:\n  deny: [a/**]   # odd\n",
      { mode: 0o640 },
    );
    await addToAllowList(file, "exact:abc", "ls (cli:alice)");
    expect(text()).toBe(
      "# mine\nprofile: strict # very\n\napprovals:\n  mode: on\n  allow:\n    # by hand\n    - recursive delete\n    - exact:abc # ls (cli:alice)\n\nfiles:\n  deny: [ a/** ] # odd\n",
    );
    expect(allowed()).toEqual(["recursive delete", "exact:abc"]);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["no file", undefined],
    ["an empty file", ""],
    ["only a comment", "# nothing yet\n"],
    ["no approvals", "profile: strict\n"],
    ["empty approvals", "approvals:\n"],
    ["an empty list", "approvals: { allow: [] }\n"],
  ])("is made where there is %s", async (_, before) => {
    if (before !== undefined) writeFileSync(file, before);
    await addToAllowList(file, "exact:abc", "ls");
    expect(allowed()).toEqual(["exact:abc"]);
  });

  it("has each entry once", async () => {
    await addToAllowList(file, "exact:abc", "ls");
    const before = text();
    await addToAllowList(file, "exact:abc", "ls again");
    expect(text()).toBe(before);
  });

  it("a comment cannot become anything else", async () => {
    await addToAllowList(file, "exact:abc", 'x\napprovals: { mode: "off" }\n\u2028profile: strict');
    expect(
      loadConfig({ workspace: folder, home: folder, env: { HERMES_HOME: folder } }).config.approvals.mode,
    ).toBe("on");
    expect(text().split("\n")).toHaveLength(4);
  });

  it("a file that cannot be read as it should be is left alone", async () => {
    for (const broken of ["approvals: [", "- a\n", "approvals: 1\n", "approvals: { allow: 1 }\n"]) {
      writeFileSync(file, broken);
      await expect(addToAllowList(file, "exact:abc", "ls"), broken).rejects.toThrow(file);
      expect(text()).toBe(broken);
    }
    expect(readdirSync(folder)).toEqual(["hermes.yaml"]);
  });

  it("a link to the file stays one", async () => {
    mkdirSync(join(folder, "dotfiles"));
    const real = join(folder, "dotfiles", "hermes.yaml");
    writeFileSync(real, "profile: strict\n");
    symlinkSync(real, file);
    await addToAllowList(file, "exact:abc", "ls");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain("exact:abc");
  });

  it("loses nothing when many write at once, nor after one that died while it wrote", async () => {
    writeFileSync(`${file}.lock`, "4194999");
    await Promise.all(Array.from({ length: 10 }, (_, i) => addToAllowList(file, `exact:${i}`, "ls")));
    expect([...allowed()].sort()).toEqual(Array.from({ length: 10 }, (_, i) => `exact:${i}`));
    expect(readdirSync(folder)).toEqual(["hermes.yaml"]);
  });
});
