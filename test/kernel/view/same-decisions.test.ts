import { spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { Random } from "../../support/random.js";

/** The same rules give the same answers, whether mounts hold them or each call is decided. */

const PROGRAM = readFileSync(fileURLToPath(new URL("./programs/many-ways.py", import.meta.url)));
const isRoot = process.getuid?.() === 0;
const ROUNDS = 6;

let user: OrdinaryUser;
beforeAll(() => {
  user = new OrdinaryUser();
});
afterAll(() => user.remove());

const NAMES = [
  ...["a", "b", ".env", ".env.local", ".env.example", "key.p12", "id_rsa", "secret"],
  ...["Ünder", "l".repeat(200), "with space", "new\nline"],
];

/** Folders and files of these names, with links of both kinds among them. */
function makeTree(random: Random, folder: string): string[] {
  const folders = [""];
  const files: string[] = [];
  for (let i = 0; i < 14; i++) {
    const at = `${random.pick(folders)}/d${i}${random.below(3) === 0 ? random.pick(NAMES) : ""}`;
    mkdirSync(folder + at);
    folders.push(at);
  }
  for (let i = 0; i < 60; i++) {
    const at = `${random.pick(folders)}/${random.pick(NAMES)}`;
    if (files.includes(at)) continue;
    const kind = random.below(6);
    if (kind === 0 && files.length > 0) symlinkSync(folder + random.pick(files), folder + at);
    else if (kind === 1) symlinkSync(random.pick(["..", ".", "../..", "a", "secret"]), folder + at);
    else if (kind === 2 && files.length > 0) linkSync(folder + random.pick(files), folder + at);
    else writeFileSync(folder + at, `content of ${JSON.stringify(at)}`);
    files.push(at);
  }
  return [...folders, ...files];
}

function rulesFor(random: Random, folder: string, paths: readonly string[]): string {
  const some = () => folder + random.pick(paths).replace(/[\\*?[\]{}]/g, "\\$&");
  const lists = [
    ["**/.env", "**/.env.*", "!**/.env.example"],
    ["**/*.p12", "**/id_{rsa,dsa}"],
    [some()],
    [`${some()}/**`],
    [`${folder}/*/secret`, `!${some()}`],
  ];
  const rules = lists
    .filter((_, i) => i === 0 || random.below(4) > 0)
    .map(
      (list, i) =>
        `  - { id: r${i}, deny: read, path: ${JSON.stringify(list)}, errno: ${random.pick(["ENOENT", "EACCES"])} }`,
    );
  const allowed = `  - { id: first, allow: read, path: ${JSON.stringify([some()])} }`;
  return `name: p\nrules:\n${[allowed, ...rules].join("\n")}\n`;
}

const outcome = (line: string) => line.replace(/: E[A-Z0-9]+$/, ": refused");

describe.each(isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const))("as %s", (who) => {
  it.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))("random files and rules, seed %i", (seed) => {
    const random = new Random(seed * 7919 + (who === "root" ? 1 : 0));
    const base = mkdtempSync(join(tmpdir(), "hermes-same-"));
    try {
      const folder = join(base, "tree");
      mkdirSync(folder);
      const paths = makeTree(random, folder);
      writeFileSync(join(base, "p.yaml"), rulesFor(random, folder, paths));
      writeFileSync(join(base, "paths.json"), JSON.stringify(paths.filter(Boolean)));
      writeFileSync(join(base, "many-ways.py"), PROGRAM); // the checkout may be closed to the ordinary user
      chmodSync(base, 0o755);
      const ids = who === "ordinary" && isRoot ? { uid: NOBODY, gid: NOBODY } : {};
      if ("uid" in ids) spawnSync("chown", ["-hR", `${NOBODY}:${NOBODY}`, base]);
      const state = join(user.folder, `state-${who}`);
      mkdirSync(state, { recursive: true });
      if ("uid" in ids) spawnSync("chown", [`${NOBODY}:${NOBODY}`, state]);
      const told = (options: readonly string[]) => {
        const words = ["run", "--json", "--policy", join(base, "p.yaml"), ...options, "--"];
        const program = [
          "/usr/bin/python3",
          join(base, "many-ways.py"),
          folder,
          join(base, "paths.json"),
          String(seed),
        ];
        const done = spawnSync(who === "root" ? HERMES : user.hermes, [...words, ...program], {
          cwd: base,
          encoding: "utf8",
          env: { PATH: process.env.PATH, HOME: base, HERMES_HOME: state },
          timeout: 100_000,
          ...ids,
        });
        return { lines: done.stdout.split("\n"), stderr: done.stderr };
      };
      const decided = told(["--view", "off"]);
      const held = told([]);
      expect(held.stderr).toContain('"hiddenFiles"');
      expect(decided.stderr).not.toContain('"hiddenFiles"');
      expect(decided.lines.length).toBeGreaterThan(100);
      expect(decided.lines.some((line) => /: E(NOENT|ACCES)$/.test(line))).toBe(true);
      expect(decided.lines.some((line) => line.includes(": content of"))).toBe(true);
      // Of a hidden file on the way to another one the kernel says something else than of a file: both are refused.
      expect(held.lines.map(outcome)).toEqual(decided.lines.map(outcome));
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});
