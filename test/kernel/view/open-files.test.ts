import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { until } from "../../support/until.js";

/** Rules on files that are open already, which read-only mounts hold (src/kernel/view/changeable.ts). */

const PROGRAM = readFileSync(fileURLToPath(new URL("./programs/open-files.py", import.meta.url)));
const isRoot = process.getuid?.() === 0;
const USERS = isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const);
type User = (typeof USERS)[number];
const STOPPED = ["fchmod", "fchown", "ftruncate", "fallocate", "fsetxattr", "fremovexattr", "utimensat"];

let user: OrdinaryUser;
beforeAll(() => {
  user = new OrdinaryUser();
});
afterAll(() => user.remove());

let folder: string;
const at = (name: string) => join(folder, name);
const policy = (...writable: string[]) => `name: p
rules:
  - { id: hidden, deny: [read, write], path: "**/.env", errno: ENOENT }
  - { id: mine, allow: write, path: ${JSON.stringify([...writable.map((name) => `${at(name)}/**`), "/dev/null"])} }
  - { id: rest, deny: write, reason: Not there. }
`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-open-files-"));
  for (const name of ["work", "work/sub", "more", "elsewhere", "home"]) mkdirSync(at(name));
  for (const name of ["work/a", "work/sub/b", "work/.env", "more/c", "elsewhere/d", "elsewhere/.env"])
    writeFileSync(at(name), "content of it");
  writeFileSync(at("work/open-files.py"), PROGRAM);
  writeFileSync(at("p.yaml"), policy("work"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function placeOf(who: User) {
  const state = join(user.folder, `state-${who}`);
  mkdirSync(state, { recursive: true });
  chmodSync(folder, 0o755);
  const ids = who === "ordinary" && isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if ("uid" in ids)
    for (const path of [folder, state]) spawnSync("chown", ["-R", `${NOBODY}:${NOBODY}`, path]);
  return {
    cwd: at("work"),
    env: { PATH: process.env.PATH, HOME: at("home"), HERMES_HOME: state },
    ...ids,
  };
}

const hermes = (who: User) => (who === "root" ? HERMES : user.hermes);
const FILES = () => ["work/a", "work/sub/b", "work/.env", "more/c", "elsewhere/d", "elsewhere/.env"].map(at);
const program = () => ["/usr/bin/python3", "open-files.py", ...FILES()];

interface Result {
  readonly summary: { readonly byCall: Readonly<Record<string, number>> };
  readonly protections: { readonly changeable?: readonly string[]; readonly openFilesDecided?: string };
}

function run(
  who: User,
  options: readonly string[],
  command: readonly string[],
  stdout: "pipe" | number = "pipe",
) {
  const done = spawnSync(
    hermes(who),
    ["run", "--json", "--policy", at("p.yaml"), ...options, "--", ...command],
    { ...placeOf(who), encoding: "utf8", timeout: 100_000, stdio: ["ignore", stdout, "pipe"] },
  );
  const json = done.stderr.split("\n").findLast((line) => line.startsWith("{"));
  if (!json) throw new Error(done.stderr);
  return { lines: done.stdout?.trim().split("\n") ?? [], result: JSON.parse(json) as Result };
}

describe.each(USERS)("as %s", (who) => {
  it("by a descriptor, the program changes what it could change with each call decided, and nothing else", () => {
    const decided = run(who, ["--view", "off"], program());
    const held = run(who, [], program());
    expect(held.lines).toEqual(decided.lines);
    expect(held.lines).toContain(`${at("work/a")} mode done`);
    expect(held.lines).toContain(`${at("work/sub/b")} size done`);
    expect(held.lines).toContain(`${at("elsewhere/d")} mode refused`);
    expect(held.lines).toContain(`${at("elsewhere/d")} mode by another name refused`);
    expect(held.lines).toContain(`${at("work/.env")} not opened 0`);
    expect(held.lines.filter((line) => line.startsWith(at("more/c")) && line.endsWith("done"))).toEqual([]);
    expect(held.result.protections.changeable).toEqual([at("work"), "/dev/null"]);
    expect(decided.result.protections.changeable).toBeUndefined();
    for (const call of STOPPED) expect(held.result.summary.byCall[call]).toBeUndefined();
    expect(decided.result.summary.byCall.fchmod).toBeGreaterThan(0);
  });

  it("behind a strict fence, too, such calls do not stop in the workspace", () => {
    const { lines, result } = run(
      who,
      ["--fence", "strict"],
      ["/usr/bin/python3", "open-files.py", "a", "sub/b"],
    );
    expect(lines).toHaveLength(2 * 2 * 7);
    const refused = lines.filter((line) => !line.endsWith(" done"));
    const gone = (name: string) => `${name} no attribute by another name refused`; // it was removed just before
    expect(refused).toEqual([gone("a"), gone("sub/b")]);
    for (const call of STOPPED) expect(result.summary.byCall[call]).toBeUndefined();
  });

  it("a file that was opened outside is decided about at each call", () => {
    const file = openSync(at("elsewhere/d"), "r+");
    const script = "import os; os.fchmod(1, 0o777)";
    const { result } = run(who, [], ["/usr/bin/python3", "-c", script], file);
    closeSync(file);
    expect(statSync(at("elsewhere/d")).mode & 0o777).not.toBe(0o777);
    expect(result.protections.openFilesDecided).toContain("opened outside");
  });

  it("the policy's own file stays as it is, although it lies in the workspace", () => {
    writeFileSync(at("work/own.yaml"), policy("work"));
    const script = `import os
for name in ('own.yaml', 'a'):
  try: os.fchmod(os.open(name, os.O_RDONLY), 0o600); print(name, 'done')
  except OSError: print(name, 'refused')`;
    const { lines } = run(who, ["--policy", at("work/own.yaml")], ["/usr/bin/python3", "-c", script]);
    expect(lines).toEqual(["own.yaml refused", "a done"]);
  });

  it("a hidden folder of the home that may be changed is made; a missing one elsewhere is decided about", () => {
    writeFileSync(at("p.yaml"), policy("work", "home/.cache"));
    const made = run(who, [], ["sh", "-c", `echo text > ${at("home/.cache/x")}; cat ${at("home/.cache/x")}`]);
    expect(made.lines).toEqual(["text"]);
    expect(made.result.protections.changeable).toContain(at("home/.cache"));
    writeFileSync(at("p.yaml"), policy("work", "new"));
    const missing = run(who, [], ["sh", "-c", `mkdir ${at("new")} && echo made`]);
    expect(missing.lines).toEqual(["made"]);
    expect(missing.result.protections.openFilesDecided).toContain("does not exist yet");
  });

  it("other folders may be changed from the moment on when the policy says so", async () => {
    const changes = (name: string) =>
      `python3 -c "import os; os.fchmod(os.open('${at(name)}', 0), 0o600)" 2>&1 | tail -1`;
    const script = [
      `${changes("more/c")}; ${changes("work/a")}; echo first; touch ready`,
      "until test -e go; do sleep 0.02; done",
      `${changes("more/c")}; echo text > ${at("more/new")} && echo written; ${changes("work/a")}`,
    ].join("\n");
    const both = changing(who, script);
    await until(() => existsSync(at("work/ready")), "the program");
    writeFileSync(at("p.yaml"), policy("more"));
    await until(() => both.stderr().includes("policies reloaded"), "the reload");
    writeFileSync(at("work/go"), "");
    const lines = (await both.ended).split("\n");
    expect(lines.map((line) => (line.includes("Read-only file system") ? "refused" : line))).toEqual([
      ...["refused", "first"],
      ...["written", "refused", ""],
    ]);
  });

  it("a policy that lets nothing more be changed waits until no file is open for writing", async () => {
    const script =
      "exec 7>kept-open; touch ready; until test -e go; do sleep 0.02; done; echo text >&7; cat kept-open";
    const both = changing(who, script);
    await until(() => existsSync(at("work/ready")), "the program");
    writeFileSync(at("p.yaml"), policy("more"));
    await until(() => both.stderr().includes("open for writing"), "the refusal of the reload");
    writeFileSync(at("work/go"), "");
    expect(await both.ended).toBe("text\n");
  });
});

/** A run whose policy changes meanwhile. */
function changing(who: User, script: string) {
  const child: ChildProcess = spawn(
    hermes(who),
    ["run", "--policy", at("p.yaml"), "--", "sh", "-c", script],
    placeOf(who),
  );
  let [out, err] = ["", ""];
  child.stdout!.on("data", (data) => (out += data));
  child.stderr!.on("data", (data) => (err += data));
  const ended = new Promise<string>((done) => child.on("close", () => done(out)));
  return { ended, stderr: () => err };
}
