import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { until } from "../../support/until.js";

/** Rules on reading files that mounts hold (src/kernel/view/). */

const REACH = readFileSync(fileURLToPath(new URL("./programs/reach.py", import.meta.url)));
const SECRET = "the secret text";
const isRoot = process.getuid?.() === 0;
const USERS = isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const);
const FENCES = ["standard", "strict"] as const;

let user: OrdinaryUser;
let outsider: ReturnType<typeof spawn>;
let folder: string;
beforeAll(() => {
  user = new OrdinaryUser();
  // A process of the same user outside the run, as every program of the user is.
  outsider = spawn("sleep", ["1000"], isRoot ? {} : {});
});
afterAll(() => {
  outsider.kill();
  user.remove();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-view-"));
  for (const name of ["work", "work/place", "work/place/closed", "home"]) mkdirSync(join(folder, name));
  for (const name of ["place/.env", "place/plain", "place/closed/inside", "place/refused"])
    writeFileSync(join(folder, "work", name), `${SECRET}\n`);
  writeFileSync(join(folder, "policy.yaml"), RULES());
  writeFileSync(join(folder, "work/reach.py"), REACH); // behind a strict fence the checkout may be out of sight
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const RULES = () => `name: p
rules:
  - { id: names, deny: read, path: "**/.env", errno: ENOENT, reason: Not that. }
  - { id: folder, deny: read, path: "${folder}/work/place/closed/**", errno: ENOENT }
  - { id: refused, deny: read, path: "${folder}/work/place/refused" }
`;

interface Ran {
  readonly lines: readonly string[];
  readonly stderr: string;
  readonly result: {
    readonly exitCode: number;
    readonly summary: {
      readonly calls: number;
      readonly hidden?: readonly { readonly path: string; readonly rule: string }[];
      readonly byCall: Readonly<Record<string, number>>;
    };
    readonly protections: { readonly hiddenFiles?: number; readonly withoutView?: string };
  };
}

type User = "root" | "ordinary";

function as(who: User) {
  if (who === "ordinary" && isRoot) {
    const own = (path: string) => chownSync(path, NOBODY, NOBODY);
    chmodSync(folder, 0o755);
    spawnSync("chown", ["-R", `${NOBODY}:${NOBODY}`, folder]);
    own(folder);
    return { uid: NOBODY, gid: NOBODY };
  }
  return {};
}

/** The memory of the search serves all tests of a user. */
function environment(who: User): NodeJS.ProcessEnv {
  const state = join(user.folder, `state-${who}`);
  if (!existsSync(state)) {
    mkdirSync(state);
    if (who === "ordinary" && isRoot) chownSync(state, NOBODY, NOBODY);
  }
  return { PATH: process.env.PATH, HOME: join(folder, "home"), HERMES_HOME: state };
}

/** The command line of the copy that an ordinary user can read. */
function commandLine(who: User): string[] {
  return [who === "root" ? HERMES : user.hermes];
}

function run(who: User, options: readonly string[], command: readonly string[]): Ran {
  const [file, ...before] = commandLine(who);
  const done = spawnSync(
    file!,
    [...before, "run", "--json", "--policy", join(folder, "policy.yaml"), ...options, "--", ...command],
    { cwd: join(folder, "work"), env: environment(who), encoding: "utf8", timeout: 100_000, ...as(who) },
  );
  const json = done.stderr.split("\n").findLast((line) => line.startsWith("{"));
  if (!json) throw new Error(done.stderr);
  return {
    lines: done.stdout.split("\n").filter(Boolean),
    stderr: done.stderr,
    result: JSON.parse(json) as Ran["result"],
  };
}

const reach = (name: string) => [
  "/usr/bin/python3",
  join(folder, "work/reach.py"),
  join(folder, "work/place"),
  name,
  String(outsider.pid),
];

describe.each(USERS)("as %s", (who) => {
  it("every way reads a file without HERMES that can read it at all", () => {
    const ids = as(who);
    // A process that may mount does so in a mount namespace of its own, which ends with it.
    const [file, ...words] = [...(who === "root" ? ["unshare", "-m"] : []), ...reach(".env")];
    const { stdout } = spawnSync(file!, words, { cwd: join(folder, "work"), encoding: "utf8", ...ids });
    const open = [
      "open",
      "relative",
      "dots",
      "root",
      "openat2",
      "pinned",
      "symlink",
      "program",
      "moved folder",
      "link",
      "rename",
    ];
    for (const way of open) expect(stdout).toContain(`${way}: ${SECRET}\n`);
  });

  describe.each(FENCES)("behind a %s fence", (fence) => {
    it.each([".env", "closed/inside", "refused"])("%s is not read by any way", (name) => {
      const { lines, result } = run(who, ["--fence", fence], reach(name));
      expect(result.protections.hiddenFiles).toBeGreaterThan(2);
      expect(lines.length).toBeGreaterThan(20);
      expect(lines.filter((line) => /secret|attached|made/.test(line))).toEqual([]);
      expect(lines[0]).toBe(name === "refused" ? "open: EACCES" : "open: ENOENT");
      expect(readFileSync(join(folder, "work/place", name), "utf8")).toBe(`${SECRET}\n`);
    });

    it("other files are read, and reading stops no call", () => {
      const many = "for i in $(seq 300); do read x < place/plain; done; echo $x; ls place";
      const { lines, result } = run(who, ["--fence", fence], ["sh", "-c", many]);
      expect(lines).toEqual([SECRET, "closed", "plain", "refused"]);
      expect(result.summary.byCall.openat ?? 0).toBeLessThan(100);
    });

    it("the summary names the hidden files that the program looked for, and only those", () => {
      const looking = "cat place/.env place/closed/inside; ls place/closed; test -e place/plain; echo on";
      const { lines, result } = run(who, ["--fence", fence], ["sh", "-c", looking]);
      expect(lines).toEqual(["on"]);
      // Root with capabilities could list the names in a mask, so there are none: only listing is noticed.
      const isEmpty = who === "root" && fence === "standard";
      expect(
        result.summary.hidden?.map(({ path, rule }) => `${path.slice(folder.length)} ${rule}`).sort(),
      ).toEqual([
        "/work/place/.env names",
        isEmpty ? "/work/place/closed folder" : "/work/place/closed/inside folder",
      ]);
    });

    it("programs that only look for a hidden file go on", () => {
      writeFileSync(
        join(folder, "policy.yaml"),
        'name: p\nrules:\n  - { id: a, deny: read, path: "~/.{npmrc,gitconfig,git-credentials}", errno: ENOENT }\n',
      );
      for (const name of [".npmrc", ".gitconfig", ".git-credentials"])
        writeFileSync(join(folder, "home", name), "[user]\n name = Somebody\n");
      const script =
        "npm config get registry; git config --global user.name || echo none; git init -q made && ls made/.git/HEAD";
      const { lines, result } = run(who, ["--fence", fence], ["sh", "-c", script]);
      expect([result.exitCode, lines]).toEqual([
        0,
        ["https://registry.npmjs.org/", "none", "made/.git/HEAD"],
      ]);
    });

    it("other rules take over while the program runs, in both directions", async () => {
      const script =
        "cat place/.env place/plain; touch ready; until test -e go; do sleep 0.02; done; cat place/.env place/plain";
      const both = changing(who, fence, script);
      await until(() => existsSync(join(folder, "work/ready")), "the program");
      writeFileSync(
        join(folder, "policy.yaml"),
        `name: p\nrules:\n  - { id: other, deny: read, path: "${folder}/work/place/plain", errno: ENOENT }\n`,
      );
      await until(() => both.stderr().includes("policies reloaded"), "the reload");
      writeFileSync(join(folder, "work/go"), "");
      expect(await both.ended).toEqual([`${SECRET}\n${SECRET}\n`, 1]);
      expect(both.stderr()).toContain("p/names: Not that.");
    });

    it("a file that another program puts in the place of a hidden one is hidden too", async () => {
      const script =
        'touch ready; until grep -qF "$(pwd)/place/.env" /proc/self/mountinfo; do sleep 0.02; done; touch seen; until test -e go; do sleep 0.02; done; until ! cat place/.env 2>/dev/null; do sleep 0.02; done; echo hidden';
      const both = changing(who, fence, script);
      await until(() => existsSync(join(folder, "work/seen")), "the program");
      writeFileSync(join(folder, "work/place/new"), "newer\n");
      renameSync(join(folder, "work/place/new"), join(folder, "work/place/.env"));
      writeFileSync(join(folder, "work/go"), "");
      const [text, status] = await both.ended;
      expect([text.replaceAll("newer\n", ""), status]).toEqual(["hidden\n", 0]);
    });
  });
});

/** A run whose policy or files change meanwhile. */
function changing(who: User, fence: string, script: string) {
  const [file, ...before] = commandLine(who);
  const options = ["run", "--policy", join(folder, "policy.yaml"), "--fence", fence];
  const child = spawn(file!, [...before, ...options, "--", "sh", "-c", script], {
    cwd: join(folder, "work"),
    env: environment(who),
    ...as(who),
  });
  let [out, err] = ["", ""];
  child.stdout!.on("data", (data) => (out += data));
  child.stderr!.on("data", (data) => (err += data));
  const ended = new Promise<[string, number | null]>((done) =>
    child.on("close", (status) => done([out, status])),
  );
  return { ended, stderr: () => err };
}

describe("where there is too much to look through", () => {
  it("each call is decided, and later runs do not look again for an hour", () => {
    const who = USERS[0]!;
    const hidden = () => run(who, [], ["sh", "-c", "cat place/.env; cat place/plain"]);
    expect(hidden().result.protections.hiddenFiles).toBeGreaterThan(0);
    const searches = join(environment(who).HERMES_HOME!, "scan");
    const marks = readdirSync(searches).map((memory) => join(searches, `${memory}.given-up`));
    for (const mark of marks) writeFileSync(mark, "");
    const { lines, result } = hidden();
    expect(lines).toEqual([SECRET]);
    expect(result.protections.withoutView).toContain("too many files");
    for (const mark of marks) rmSync(mark);
    expect(hidden().result.protections.hiddenFiles).toBeGreaterThan(0);
  });

  it("a folder that lies too deep to look into is hidden", () => {
    const deep = Array.from({ length: 300 }, () => "d").join("/");
    mkdirSync(join(folder, "work", deep), { recursive: true });
    const reach = `cat place/.env; mkdir -p made; cd ${deep} && echo entered`;
    const { lines, result } = run(USERS[0]!, [], ["sh", "-c", reach]);
    expect(result.protections.hiddenFiles).toBeGreaterThan(0);
    expect(lines).toEqual([]);
  });
});

describe("where no namespaces can be made", () => {
  /** As in most containers: no process can make namespaces or has a capability. */
  const CONFINED = [
    "unshare -U --map-current-user --keep-caps sh -c",
    `'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all "$0" "$@"'`,
  ].join(" ");
  const confined = (options: readonly string[], script: string) => {
    const words = [
      "run",
      "--json",
      "--policy",
      join(folder, "policy.yaml"),
      ...options,
      "--",
      "sh",
      "-c",
      script,
    ];
    const ids = as("ordinary");
    return spawnSync("sh", ["-c", `exec ${CONFINED} "$@"`, "sh", user.hermes, ...words], {
      cwd: join(folder, "work"),
      env: environment("ordinary"),
      encoding: "utf8",
      timeout: 100_000,
      ...ids,
    });
  };

  it("each call is decided, with the same answers, and the summary says why", () => {
    const { stdout, stderr } = confined(
      [],
      "cat place/.env place/closed/inside place/refused; cat place/plain",
    );
    expect(stdout).toBe(`${SECRET}\n`);
    expect(stderr).toContain('"withoutView"');
    expect(stderr).toMatch(/"rule":"names"/);
  });

  it("--require view does not start the program", () => {
    const { stdout, stderr, status } = confined(["--require", "view"], "echo ran");
    expect([stdout, status]).toEqual(["", 125]);
    expect(stderr).toContain("this run needs view");
  });
});
