import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { protectedNames } from "../../src/session/protected-files.js";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { root } from "../support/root.js";

/** A program cannot make the names that HERMES reads lead elsewhere, whichever link or folder on the way it tries. */

const isRoot = process.getuid?.() === 0;
const RUNNER = process.env.HERMES_UNDER_TEST; // a build of another version, to see an attack succeed there
let user: OrdinaryUser;
let folder: string;
beforeAll(() => {
  user = new OrdinaryUser();
});
afterAll(() => user.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-kept-"));
  chmodSync(folder, 0o777);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const strict = (secret: string) =>
  `name: kept\nrules:\n  - { id: secret, deny: read, path: ${secret}, reason: Secret. }\n`;
const path = (name: string) => join(folder, name);

interface Run {
  readonly who: "root" | "nobody";
  readonly door: string;
  readonly fence: string;
}

function run({ who, door, fence }: Run, args: readonly string[], script: string): SpawnSyncReturns<string> {
  const as = who === "nobody" && isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const main = RUNNER ?? join("uid" in as ? user.folder : root, "dist/cli/main.cjs");
  give(folder, who);
  const words = [
    "run",
    "--json",
    "--door",
    door,
    "--fence",
    fence,
    ...args,
    "--",
    "sh",
    "-c",
    `${script}\necho ran`,
  ];
  const done = spawnSync(process.execPath, [main, ...words], {
    cwd: folder,
    encoding: "utf8",
    timeout: 110_000,
    env: { PATH: process.env.PATH, HOME: path("home"), HERMES_WORKSPACE: folder },
    ...as,
  });
  expect(done.stdout, done.stderr).toMatch(/ran\n$/);
  return done;
}

/** Everything belongs to the user who runs: no right of the file system keeps the program from it. */
function give(place: string, who: Run["who"]): void {
  if (!isRoot) return;
  for (const name of readdirSync(place, { recursive: true, encoding: "utf8" })) {
    const at = join(place, name);
    if (who === "nobody" && !lstatSync(at).isSymbolicLink()) chownSync(at, NOBODY, NOBODY);
  }
  if (who === "nobody") chownSync(place, NOBODY, NOBODY);
}

/** real/p.yaml, reached as way/link.yaml: by a linked folder, then by a linked file. */
function linkedPolicy(): string {
  mkdirSync(path("home"));
  mkdirSync(path("real"));
  mkdirSync(path("evil"));
  mkdirSync(path("links"));
  writeFileSync(path("secret"), "told");
  writeFileSync(path("real/p.yaml"), strict(path("secret")));
  writeFileSync(path("evil/p.yaml"), "name: kept\nrules:\n  - { id: secret, deny: read, path: /none }\n");
  symlinkSync("../real/p.yaml", path("links/link.yaml"));
  symlinkSync("../evil/p.yaml", path("evil/link.yaml"));
  symlinkSync("links", path("way"));
  return path("way/link.yaml");
}

function intact(): unknown {
  return [
    readlinkSync(path("way")),
    readlinkSync(path("links/link.yaml")),
    readFileSync(path("real/p.yaml"), "utf8") === strict(path("secret")),
    lstatSync(path("links")).isDirectory() && lstatSync(path("real")).isDirectory(),
  ];
}
const INTACT = ["links", "../real/p.yaml", true, true];

const ATTACKS: Readonly<Record<string, string>> = {
  "the linked file": "ln -sfn ../evil/p.yaml links/link.yaml",
  "the linked file, renamed over": "ln -s ../evil/p.yaml x; mv -T x links/link.yaml",
  "the linked file, removed": "rm -f links/link.yaml && cp evil/p.yaml links/link.yaml",
  "the linked file, by its linked folder": "rm -f way/link.yaml && cp evil/p.yaml way/link.yaml",
  "the linked folder": "rm -f way && ln -s evil way",
  "the linked folder, renamed over": "ln -s evil x; mv -T x way",
  "the folder with the link": "mv links old && mv evil links",
  "the folder with the file": "mv real old && mv evil real",
  "the file": "cp evil/p.yaml real/p.yaml",
  "the file, by the link": "cat evil/p.yaml > way/link.yaml",
  "the folder with the link, exchanged":
    "python3 -c \"import ctypes; print(ctypes.CDLL(None).renameat2(-100, b'links', -100, b'evil', 2))\"",
};

const RUNS: Run[] = (["root", "nobody"] as const)
  .filter((who) => isRoot || who === "nobody")
  .flatMap((who) =>
    ["auto", "notify", "trace"].flatMap((door) =>
      ["none", "standard", "strict"].map((fence) => ({ who, door, fence })),
    ),
  );

describe.each(RUNS)("as $who, door $door, fence $fence", (as) => {
  it("a policy named by links stays the policy in force, whatever the program tries to replace", () => {
    const named = linkedPolicy();
    const script = Object.values(ATTACKS)
      .map((attack) => `(${attack})`)
      .join("; ");
    const done = run(as, ["-p", named], `${script}; cat secret; true`);
    expect(intact(), done.stderr).toEqual(INTACT);
    expect(done.stdout).not.toContain("told");
    expect(done.stderr).toContain('"reloads":0');
  });
});

describe("one attack at a time", () => {
  it.each(Object.entries(ATTACKS))("on %s leads nowhere", (_, attack) => {
    const named = linkedPolicy();
    const as: Run = { who: "nobody", door: "auto", fence: "standard" };
    const done = run(as, ["-p", named], `${attack}; cat secret; true`);
    expect(intact(), done.stderr).toEqual(INTACT);
    expect(done.stdout).not.toContain("told");
  });
});

/** What a run would read later, or has read: not there when it starts, or not named by its user. */
describe("a file that HERMES reads besides", () => {
  const as: Run = { who: "nobody", door: "auto", fence: "none" };

  it("is kept where a policy includes it through a link", () => {
    linkedPolicy();
    writeFileSync(path("top.yaml"), "name: top\ninclude: ./way/link.yaml\n");
    const done = run(
      as,
      ["-p", path("top.yaml")],
      `${ATTACKS["the linked folder"]}; ${ATTACKS["the linked file"]}`,
    );
    expect(intact(), done.stderr).toEqual(INTACT);
  });

  it("is kept where a policy imports it through a link, also under a name that would come first", () => {
    linkedPolicy();
    writeFileSync(path("real/rule.ts"), "export const secret = '/none';\n");
    writeFileSync(
      path("top.ts"),
      `import { definePolicy, deny } from "hermes-runtime";\nimport { secret } from "./lib/rule";\n` +
        `export default definePolicy({ name: "top", actions: ["deny"], on: { openat: (e) => (e.path === secret ? deny() : undefined) } });\n`,
    );
    symlinkSync("real", path("lib"));
    const script = "rm -f lib; ln -sfn evil lib; echo x > real/rule; echo x > lib/rule; mkdir lib/rule; true";
    const done = run({ ...as, who: "root" }, ["-p", path("top.ts")], script);
    expect([readlinkSync(path("lib")), existsSync(path("real/rule"))], done.stderr).toEqual(["real", false]);
  });

  it("cannot be made: hermes.yaml of the user and of the project, the store and what lies beside it", () => {
    linkedPolicy();
    const made = ["hermes.yaml", "home/.config/hermes/hermes.yaml", "home/.local/state/hermes/hermes.db.key"];
    const script =
      "mkdir -p home/.config/hermes home/.local/state/hermes evil/hermes; cp evil/p.yaml evil/hermes/hermes.yaml;" +
      made.map((file) => `echo x > ${file}; ln -s /tmp/x ${file}; cp evil/p.yaml ${file};`).join("") +
      "rmdir home/.config/hermes; ln -s ../../evil/hermes home/.config/hermes; mv -T evil/hermes home/.config/hermes; " +
      "mv evil/hermes home/.config/; echo y > home/.config/other";
    const done = run(as, ["-p", path("way/link.yaml")], script);
    expect(
      made.filter((file) => existsSync(path(file))),
      done.stderr,
    ).toEqual([]);
    expect(readFileSync(path("home/.config/other"), "utf8"), "the rest of the folder is the program's").toBe(
      "y\n",
    );
  });

  it("is kept where the trace lies behind a link", () => {
    linkedPolicy();
    const trace = path("way/t.jsonl");
    const script =
      "rm -f way; ln -sfn evil way; mv links other; rm links/t.jsonl; echo x > links/t.jsonl.1; true";
    const done = run(as, ["-p", path("real/p.yaml"), "-t", trace, "-e", "uname"], script);
    expect(intact(), done.stderr).toEqual(INTACT);
    expect(readFileSync(path("links/t.jsonl"), "utf8")).toMatch(/^\{"kind":"header"/);
    expect(existsSync(path("links/t.jsonl.1"))).toBe(false);
  });

  it("is not reached through an overlay over its folder", () => {
    linkedPolicy();
    for (const name of ["m", "work"]) mkdirSync(path(name));
    const policy = "name: kept\nrules:\n  - { id: inside, deny: connect, address: 10.0.0.0/8 }\n";
    writeFileSync(path("real/p.yaml"), policy); // a rule on reading would refuse every overlay
    const options = "lowerdir=evil,upperdir=real,workdir=work";
    const script = `unshare -rm --propagation unchanged sh -c 'mount -t overlay overlay -o ${options} m && cp evil/p.yaml m/p.yaml'`;
    const done = run(as, ["-p", path("way/link.yaml")], script);
    expect(readFileSync(path("real/p.yaml"), "utf8"), done.stderr).toBe(policy);
  });
});

describe("names to keep", () => {
  it("are every link on the way, and the end of it, whether there is something or not", () => {
    linkedPolicy();
    expect(protectedNames([path("way/link.yaml")])).toEqual([
      path("way"),
      path("links/link.yaml"),
      path("real/p.yaml"),
    ]);
    expect(protectedNames([path("way/none/x.yaml")])).toEqual([path("way"), path("links/none/x.yaml")]);
    symlinkSync(path("home/nowhere"), path("dangling"));
    expect(protectedNames([path("dangling")])).toEqual([path("dangling"), path("home/nowhere")]);
    symlinkSync("loop", path("loop"));
    expect(protectedNames([path("loop")])).toEqual([path("loop")]);
    expect(protectedNames(["/dev/null", folder])).toEqual([]);
  });
});
