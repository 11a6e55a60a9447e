import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { landlockRules } from "../../../src/kernel/fence/landlock.js";
import { combine } from "../../../src/kernel/fence/options.js";
import { commonFolders } from "../../../src/nouns/path.js";
import { hermes } from "../../support/cli.js";
import { OrdinaryUser } from "../../support/ordinary-user.js";

let folder: string;
let user: OrdinaryUser;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-required-"));
  user = new OrdinaryUser();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  user.remove();
});
const policy = (text: string) => {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, text);
  return file;
};

/** A place where no process can make namespaces or has a capability, as in most containers. */
const CONFINED = [
  "unshare -U --map-current-user --keep-caps sh -c",
  `'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all "$0" "$@"'`,
].join(" ");
const confined = (script: string) =>
  user.run(`
    import { spawnSync } from "node:child_process";
    import { writeFileSync } from "node:fs";
    writeFileSync("inner.mjs", ${JSON.stringify(`import { run } from "${join("..", "dist/index.js")}";\n${script}`)});
    const done = spawnSync("sh", ["-c", ${JSON.stringify(`exec ${CONFINED} "$@"`)}, "sh", process.execPath, "inner.mjs"], { encoding: "utf8" });
    console.log(done.stdout + done.stderr);
  `).stdout;

describe("where no namespaces can be made", () => {
  it("a strict run goes on with what there is, and says what there is not", () => {
    const told = confined(`
      const { exitCode, protections } = await run({ command: ["sh", "-c", "touch /tmp/x own-file && echo ran"], fence: "strict" });
      console.log(exitCode, JSON.stringify(protections));
    `);
    const [ran, text] = told.split("\n");
    expect(ran).toBe("ran");
    const { inForce, missing } = JSON.parse(text!.slice(2)) as {
      inForce: string[];
      missing: { name: string; why: string }[];
    };
    expect(inForce).toEqual(expect.arrayContaining(["capabilities", "landlock"]));
    expect(missing.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["user_namespace", "pid_namespace", "mount_namespace", "net_namespace"]),
    );
    expect(missing.find(({ name }) => name === "pid_namespace")!.why).toMatch(
      /may not create namespaces here/,
    );
  });

  it("a run that requires them does not start", () => {
    const told = confined(`
      await run({ command: ["echo", "ran"], fence: { level: "strict", requires: ["namespaces"] } }).catch((e) => console.log(e.exitCode, e.message));
    `);
    expect(told).toMatch(/^125 this run needs pid_namespace, which is not available here: this user may not/);
  });

  it("a run that hides something does not start", () => {
    const told = confined(`
      await run({ command: ["echo", "ran"], fence: { level: "strict", hidden: ["/etc/passwd"] } }).catch((e) => console.log(e.exitCode, e.message));
    `);
    expect(told).toMatch(/^125 this run needs mount_namespace/);
  });

  it("a policy that the fence cannot hold is defended by stops", () => {
    const told = confined(`
      import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
      mkdirSync("inside");
      const text = "name: p\\nrules: [{ id: no-mail, deny: connect, address: '*:25' }]\\n";
      writeFileSync("p.yaml", text);
      const command = ["sh", "-c", "chmod 777 ../p.yaml; echo > ../p.yaml; mv ../p.yaml x; true"];
      const { summary } = await run({ command, policy: "p.yaml", cwd: "inside", fence: "strict" });
      console.log(summary.byCall.fchmodat > 0, readFileSync("p.yaml", "utf8") === text);
    `);
    expect(told).toContain("true true");
  });

  it("doors decide as ever, and Landlock holds", () => {
    const told = confined(`
      const command = ["sh", "-c", "cat /etc/hostname || echo decided; touch /var/tmp/../outside || echo held"];
      const { definePolicy, deny } = await import("../dist/index.js");
      const policy = definePolicy({ name: "p", actions: ["deny"], on: { openat: (e) => (e.path === "/etc/hostname" ? deny("no") : undefined) } });
      await run({ command, policy, fence: "strict" });
    `);
    expect(told).toMatch(/^decided\nheld\n/);
  });
});

describe("a protection that is required", () => {
  const run = (...args: string[]) => hermes(["run", "-q", ...args, "--", "echo", "ran"]);

  it("is there, or nothing runs", () => {
    expect(run("--fence", "strict", "--require", "namespaces,landlock")).toMatchObject({
      status: 0,
      stdout: "ran\n",
    });
    expect(run("--require", "namespaces")).toMatchObject({
      status: 125,
      stdout: "",
      stderr: expect.stringMatching(
        /needs pid_namespace, .*: the fence of this run is standard, and only strict has it \(use --fence strict\)/,
      ),
    });
    expect(run("--require", "cgroup").stderr).toMatch(/no limit of memory, processes or CPU/);
    expect(run("--fence", "strict", "--network", "host", "--require", "net_namespace").stderr).toMatch(
      /an option of this run turned it off/,
    );
    expect(run("--fence", "none", "--require", "no_new_privs").status).toBe(
      process.getuid?.() === 0 ? 125 : 0,
    );
  });

  it("can be required, and given, by a policy", () => {
    const requires = policy("name: r\nrequires: [capabilities]\nrules: [{ id: x, deny: mount }]\n");
    expect(run("-p", requires)).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/needs capabilities/),
    });
    expect(run("-p", requires, "--fence", "strict").status).toBe(0);
    const gives = policy("name: r\nrequires: [capabilities]\nfence: { level: strict }\n");
    expect(run("-p", gives)).toMatchObject({ status: 0, stdout: "ran\n" });
    expect(run("-p", gives, "--fence", "none").status).toBe(0);
  });
});

describe("wrong input is told", () => {
  const WRONG: readonly (readonly [args: string[], told: RegExp])[] = [
    [["--fence", "high"], /--fence takes none or standard or strict, not "high"/],
    [["--require", "landlok"], /unknown protection "landlok": did you mean "landlock"\?/],
    [["--writable", "/no/such"], /\/no\/such does not exist, so it cannot be made writable/],
    [["--readable", "/no/such"], /\/no\/such does not exist, so it cannot be made readable/],
    [["--fence", "strict", "--hide", "/no/such"], /\/no\/such does not exist, so it cannot be made hidden/],
    [["--connect-port", "http"], /--connect-port takes a TCP port, not "http"/],
    [["--bind-port", "65536"], /--bind-port takes a TCP port, not "65536"/],
    [["--network", "none"], /--network takes own or host, not "none"/],
    [["--memory", "much"], /--memory takes a size such as 512M, not "much"/],
    [["--memory", "0"], /--memory takes a size/],
    [["--processes", "0"], /--processes takes a whole number, not "0"/],
    [["--cpus", "-1"], /--cpus takes a number such as 1.5, not "-1"/],
    [["--timeout", "soon"], /--timeout takes a duration such as 30s or 5m, not "soon"/],
    [["--timeout", "0"], /--timeout takes a duration/],
  ];
  for (const [args, told] of WRONG)
    it(args.join(" "), () => {
      expect(hermes(["run", ...args, "--", "true"])).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(told),
      });
    });

  const WRONG_POLICY: readonly (readonly [fence: string, told: RegExp])[] = [
    ["{ level: high }", /policy.yaml:2:17: `level` takes none, standard, strict, not "high"/],
    [
      "{ writable: ['*.txt'] }",
      /policy.yaml:2:\d+: `writable`: "\*.txt" is a pattern: name a folder or a file/,
    ],
    [`{ writable: ["\${nowhere}"] }`, /unknown variable \$\{nowhere\}/],
    ["{ memory: lots }", /`memory`: "lots" is not a size such as 512MB/],
    ["{ connect_ports: [99999] }", /is no TCP port/],
    ["{ writeable: [x] }", /writable/],
  ];
  for (const [fence, told] of WRONG_POLICY)
    it(`fence: ${fence}`, () => {
      const file = policy(`name: x\nfence: ${fence}\nrules: [{ id: a, deny: mount }]\n`);
      expect(hermes(["run", "-p", file, "--", "true"])).toMatchObject({
        status: 125,
        stderr: expect.stringMatching(told),
      });
    });
});

describe("several who ask for a fence", () => {
  it("get the folders that all of them have", () => {
    expect(commonFolders(["/a", "/b/c"], ["/a/x", "/b", "/d"])).toEqual(["/a/x", "/b/c"]);
    expect(commonFolders(["/"], ["/a"])).toEqual(["/a"]);
    expect(commonFolders(["/ab"], ["/a"])).toEqual([]);
    expect(commonFolders(["/a"], [])).toEqual([]);
  });
  it("get the strictest level, the smallest limits and all that is hidden", () => {
    expect(
      combine([
        { level: "standard", memory: 10, hidden: ["/x"], network: "host" },
        { level: "strict", memory: 5, hidden: ["/y"], network: "own", connectPorts: [1, 2] },
        { connectPorts: [2, 3] },
      ]),
    ).toMatchObject({ level: "strict", memory: 5, hidden: ["/x", "/y"], network: "own", connectPorts: [2] });
  });
});

describe("Landlock's rules", () => {
  const allowed = { writable: ["/w"], readable: ["/r"], connectPorts: [443], scoped: true, system: true };
  it("ask no kernel for rights that it does not know", () => {
    const known = [0n, 0x1fffn, 0x3fffn, 0x7fffn, 0x7fffn, 0xffffn, 0xffffn, 0xffffn];
    for (const [abi, rights] of known.entries()) {
      if (abi === 0) continue;
      const rules = landlockRules(allowed, abi);
      expect(rules.handledFiles).toBe(rights);
      expect(rules.pathRules.every(({ access }) => (access & ~rights) === 0n)).toBe(true);
      expect(rules.handledPorts).toBe(abi >= 4 ? 2n : 0n);
      expect(rules.scopes).toBe(abi >= 6 ? 3n : 0n);
    }
  });
  it("restrict only what there is a list for", () => {
    expect(landlockRules({ scoped: false }, 7)).toMatchObject({
      handledFiles: 0n,
      handledPorts: 0n,
      scopes: 0n,
    });
  });
});
