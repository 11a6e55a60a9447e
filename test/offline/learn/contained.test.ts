import { chownSync, copyFileSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unknownOrigin } from "../../../src/cli/run/origin.js";
import { hermes } from "../../support/cli.js";

const NOBODY = 65_534;
const network = readlinkSync("/proc/self/ns/net");

let folder: string;
let program: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-contained-")));
  program = join(folder, "program");
  copyFileSync("/bin/bash", program);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...args: string[]) =>
  hermes(args, { cwd: folder, env: { ...process.env, HERMES_HOME: join(folder, "home") } });
const NETWORK = ["-c", "readlink /proc/self/ns/net"];

describe("a program of unknown origin", () => {
  it("is learned behind a fence with a network of its own, unless its user says otherwise", () => {
    chownSync(program, NOBODY, NOBODY);
    const learned = at("learn", "-o", "p.yaml", "--", "./program", ...NETWORK);
    expect(learned.stderr).toContain(`${program} does not belong to root: it runs contained`);
    expect(learned.stdout).toMatch(/^net:/);
    expect(learned.stdout.trim()).not.toBe(network);
    expect(at("learn", "--no-contained", "-o", "q.yaml", "--", "./program", ...NETWORK).stdout.trim()).toBe(
      network,
    );
  });

  it("is said to run with nothing held, where no policy is in force", () => {
    chownSync(program, NOBODY, NOBODY);
    const { stderr } = at("run", "--", "./program", "-c", "true");
    expect(stderr).toMatch(/does not belong to root, and no policy is in force: nothing is held/);
    expect(stderr).toContain("no policy: nothing was held");
    expect(at("run", "-p", "secrets", "--", "./program", "-c", "true").stderr).not.toContain("nothing");
    expect(at("run", "-q", "--", "./program", "-c", "true").stderr).toBe("");
  });

  it("is one that lies in a folder of downloads, also as a script of an interpreter or behind a link", () => {
    mkdirSync(join(folder, "Downloads"));
    const script = join(folder, "Downloads", "x.sh");
    copyFileSync("/bin/true", script);
    const origin = (...words: string[]) =>
      unknownOrigin(words, { cwd: folder, home: folder, path: "/usr/bin:/bin" });
    expect(origin("bash", "Downloads/x.sh")).toBe(`${script} lies in a folder of downloads`);
    expect(origin(script)).toBe(`${script} lies in a folder of downloads`);
    expect(origin("bash", "-c", "true")).toBeUndefined();
    expect(origin("ls")).toBeUndefined();
    expect(origin("no-such-program")).toBeUndefined();
  });
});

it("a program of the system is learned as its user", () => {
  const { stdout, stderr } = at("learn", "-o", "p.yaml", "--", "readlink", "/proc/self/ns/net");
  expect(stdout.trim()).toBe(network);
  expect(stderr).not.toContain("contained");
});
