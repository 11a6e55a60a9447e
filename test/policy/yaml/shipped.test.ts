import { execFileSync, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadYaml } from "../../../src/policy/yaml/load.js";
import { hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";

/** Real programs under the policies that ship: what they stop, and that ordinary use goes on. */

const base = realpathSync(mkdtempSync(join(tmpdir(), "hermes-shipped-")));
const elsewhere = realpathSync(mkdtempSync(join(homeForTests(), ".hermes-outside-")));

/** A folder of ours that no policy takes for a temporary one, wherever this checkout lies. */
function homeForTests(): string {
  const temporary = ["/tmp/", "/var/tmp/", `${tmpdir()}/`];
  const folders = [homedir(), "/var/lib", "/opt"].filter(
    (folder) => !temporary.some((t) => `${folder}/`.startsWith(t)),
  );
  return folders.find((folder) => accessible(folder)) ?? root;
}

function accessible(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
const ways = join(base, "ways");
let home: string;
let workspace: string;
let count = 0;

beforeAll(() => {
  execFileSync("gcc", [
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-o",
    ways,
    join(root, "test/policy/yaml/ways.c"),
  ]);
});
beforeEach(() => {
  // Not under /tmp, which some policies permit.
  const fresh = join(elsewhere, `t${count++}`);
  home = join(fresh, "home");
  workspace = join(fresh, "work");
  for (const folder of [home, workspace, join(home, ".ssh")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, ".ssh/id_ed25519"), "secret key\n");
  writeFileSync(join(home, ".ssh/known_hosts"), "hosts\n");
  writeFileSync(join(workspace, "file"), "content\n");
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
  rmSync(elsewhere, { recursive: true, force: true });
});

interface Summary {
  readonly summary: {
    readonly decisions: readonly { readonly action: string; readonly rule?: string; readonly call: string }[];
  };
}

function run(
  policy: string,
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
  more: readonly string[] = [],
) {
  const options = [...more, "--json", "--ask", "no", "-p", join(root, "policies", `${policy}.yaml`)];
  const done = hermes(["run", ...options, "--", ...command], {
    cwd: workspace,
    env: { ...process.env, HOME: home, HERMES_HOME: join(base, "state"), ...env },
  });
  const json = done.stderr.split("\n").findLast((line) => line.startsWith("{"));
  const decisions = json ? (JSON.parse(json) as Summary).summary.decisions : [];
  return {
    status: done.status,
    stdout: done.stdout,
    stderr: done.stderr,
    rules: [...new Set(decisions.map(({ rule }) => rule))],
  };
}

const sh = (policy: string, script: string, env: NodeJS.ProcessEnv = {}) =>
  run(policy, ["sh", "-c", script], env);
const node = (policy: string, script: string) => run(policy, [process.execPath, "-e", script]);
const CONNECT = (port: number, host = "127.0.0.1") =>
  `require("net").connect(${port}, "${host}").on("connect", () => { console.log("connected"); process.exit() }).on("error", (e) => console.log(e.code))`;

describe("every policy that ships", () => {
  const names = readdirSync(join(root, "policies")).filter((name) => name.endsWith(".yaml"));

  test.each(names)("%s loads, explains itself and has examples", async (name) => {
    const policy = await loadYaml(join(root, "policies", name));
    expect(policy.name).toBe(name.replace(/\.yaml$/, ""));
    expect(policy.description).toBeTruthy();
    expect(readFileSync(join(root, "policies", name), "utf8")).toContain("examples:");
    expect(readFileSync(join(root, "policies", name), "utf8")).toContain(
      "$schema=../schemas/policy.schema.json",
    );
    for (const rule of policy.rules)
      if (rule.key !== "allow") expect(rule.answer({ subject: {} } as never).reason, rule.id).toBeTruthy();
  });

  test.each(names)("%s lets a program run, and changes no more than it must", (name) => {
    const { status, stdout, stderr } = run(name.replace(/\.yaml$/, ""), ["echo", "hello"]);
    expect([status, stdout]).toEqual([0, "hello\n"]);
    const { doors } = JSON.parse(stderr.split("\n").findLast((line) => line.startsWith("{"))!).protections;
    expect(doors).toEqual(TRACED.has(name) ? ["notify", "trace"] : ["notify"]);
  });
});

/** Those that change calls. Rules on exec need no trace door. */
const TRACED = new Set(["fault-injection.yaml"]);

describe("where a program is run does not matter", () => {
  test.each(["/", "/tmp", "home"])("in %s every policy loads", async (place) => {
    const cwd = place === "home" ? home : place;
    for (const name of readdirSync(join(root, "policies")).filter((file) => file.endsWith(".yaml")))
      expect(
        (await loadYaml(join(root, "policies", name), { cwd, workspace: cwd, home })).rules.length,
      ).toBeGreaterThan(0);
  });
});

describe("readonly", () => {
  test("lets programs read", () => {
    const { status, stdout } = sh(
      "readonly",
      "cat file; ls / > /dev/null; git --version > /dev/null && echo fine",
    );
    expect([status, stdout]).toEqual([0, "content\nfine\n"]);
  });
  const COMMANDS = [
    "echo x > file",
    "echo x >> file",
    "touch file",
    "touch new",
    "rm file",
    "mv file other",
    "mkdir d",
    "ln -s a b",
    "ln file hard",
    "chmod 600 file",
    "truncate -s 0 file",
    "cp file copy",
    "mkfifo f",
    "dd if=/dev/zero of=file count=1",
  ];
  test(`refuses ${COMMANDS.join(", ")}`, () => {
    const script = COMMANDS.map(
      (command) => `(${command}) 2>&1 | grep -o "Read-only file system" || echo "done: ${command}"`,
    );
    const { stdout, rules } = sh("readonly", script.join("\n"));
    expect(stdout).toBe("Read-only file system\n".repeat(COMMANDS.length));
    expect(rules).toEqual(["unchanged"]);
    expect(readdirSync(workspace)).toEqual(["file"]);
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("content\n");
  });
  test("no way to change a file works", () => {
    writeFileSync(join(workspace, "file"), "secret\n");
    const { stdout } = run("readonly", [ways, "write", join(workspace, "file"), workspace]);
    expect(stdout).toBe("");
    expect(readdirSync(workspace)).toEqual(["file"]);
  });
});

describe("workspace", () => {
  test("lets programs change the workspace and temporary folders", () => {
    const { status, stdout, rules } = sh(
      "workspace",
      "mkdir d && echo x > d/y && mv d/y d/z && rm file && cat d/z && t=$(mktemp) && rm $t && git init -q . && git add . && echo done",
    );
    expect([status, stdout, rules]).toEqual([0, "x\ndone\n", []]);
  });
  test("refuses to change anything else, by any way", () => {
    const outside = join(home, "file");
    writeFileSync(outside, "secret\n");
    const bare = spawnSync(ways, ["write", outside, workspace], { encoding: "utf8" }).stdout.split("\n");
    expect(bare.length).toBeGreaterThan(25);
    rmSync(home, { recursive: true });
    mkdirSync(home);
    writeFileSync(outside, "secret\n");
    const { stdout, rules } = run("workspace", [ways, "write", outside, workspace]);
    expect(stdout).toBe("");
    expect(rules).toEqual(["elsewhere"]);
    expect(readdirSync(home)).toEqual(["file"]);
    expect(readFileSync(outside, "utf8")).toBe("secret\n");
  });
  test("a link in the workspace leads nowhere else", () => {
    expect(sh("workspace", `ln -s ${home}/x l && echo y > l`).rules).toEqual(["elsewhere"]);
    expect(sh("workspace", `ln -s ${home} m; cd m && echo y > z`).rules).toEqual(["elsewhere"]);
  });
  test("the workspace can be named", () => {
    const env = { HERMES_WORKSPACE: home };
    expect(sh("workspace", `echo x > ${home}/ok && echo y > no`, env).rules).toEqual(["elsewhere"]);
    expect(readdirSync(home)).toContain("ok");
  });
});

describe("no-network", () => {
  test("no connection is made, not even to this machine", () => {
    expect(node("no-network", CONNECT(9)).stdout).toBe("ENETUNREACH\n");
    expect(node("no-network", CONNECT(9, "::1")).stdout).toBe("ENETUNREACH\n");
    expect(node("no-network", CONNECT(9, "10.1.2.3")).rules).toEqual(["network"]);
  });
  test("no datagram is sent, and no socket listens", () => {
    const send =
      'const s = require("dgram").createSocket("udp4").on("error", (e) => console.log(e.code)); s.send("x", 53, "127.0.0.1")';
    expect(node("no-network", send).stdout).toContain("ENETUNREACH");
    const listen =
      'require("net").createServer().on("error", (e) => console.log(e.code)).listen(0, "127.0.0.1")';
    expect(node("no-network", listen).stdout).toBe("ENETUNREACH\n");
  });
  test("unix sockets still work", () => {
    const talk =
      'const n = require("net"); const s = n.createServer((c) => { c.end("hi") }).listen("s.sock", () => n.connect("s.sock").on("data", (d) => { console.log(String(d)); s.close() }))';
    const { stdout, rules } = node("no-network", talk);
    expect([stdout, rules]).toEqual(["hi\n", []]);
  });
  test("sockets of odd families cannot be made", () => {
    const { stdout } = run("no-network", [
      "perl",
      "-MSocket",
      "-MErrno",
      "-e",
      'socket(S, 17, 3, 0) or print "$!\\n"; socket(S, 2, 1, 132) or print "$!\\n"; socket(S, 1, 1, 0) and print "unix\\n"',
    ]);
    expect(stdout).toBe("Address family not supported by protocol\nProtocol not supported\nunix\n");
  });
});

describe("no-exec", () => {
  test("the program runs, and starts no other", () => {
    const { stdout, rules } = node(
      "no-exec",
      'console.log("started"); require("child_process").spawn("ls").on("error", (e) => console.log(e.code))',
    );
    expect([stdout, rules]).toEqual(["started\nEACCES\n", ["others"]]);
  });
  test("a shell still runs what is built in", () => {
    const { stdout, rules } = sh("no-exec", "echo built in; ls; /bin/ls; exec ls");
    expect([stdout, rules]).toEqual(["built in\n", ["others"]]);
  });
  test("a script is started with its interpreter", () => {
    writeFileSync(join(workspace, "script"), "#!/bin/sh\necho from a script\n", { mode: 0o755 });
    expect(run("no-exec", ["./script"]).stdout).toBe("from a script\n");
  });
});

describe("secrets", () => {
  test("a key looks as if it were not there, and what is not secret is read", () => {
    const { stdout, stderr, rules } = sh(
      "secrets",
      "cat ~/.ssh/id_ed25519; cat ~/.ssh/known_hosts; cat file",
    );
    expect(stdout).toBe("hosts\ncontent\n");
    expect(stderr).toContain("No such file");
    expect(rules).toEqual(["ssh"]);
  });
  test("no way to read it works", () => {
    const key = join(home, ".ssh/id_ed25519");
    writeFileSync(key, "secret\n");
    const bare = spawnSync(ways, ["read", key, workspace], { encoding: "utf8" }).stdout.split("\n");
    expect(bare.length).toBeGreaterThan(11);
    expect(run("secrets", [ways, "read", key, workspace]).stdout).toBe("");
    expect(readFileSync(key, "utf8")).toBe("secret\n");
  });
  const FILES = {
    ".aws/credentials": "cloud",
    ".config/gcloud/x/y": "cloud",
    ".npmrc": "package-tokens",
    ".netrc": "package-tokens",
    ".config/gh/hosts.yml": "package-tokens",
    ".gnupg/private-keys-v1.d/x.key": "keyrings",
    ".mozilla/firefox/a/logins.json": "browsers",
    ".bash_history": "history",
  };
  test(`${Object.keys(FILES).join(", ")} are not read`, () => {
    for (const file of Object.keys(FILES)) {
      mkdirSync(join(home, file, ".."), { recursive: true });
      writeFileSync(join(home, file), "secret");
    }
    const { stdout, rules } = sh("secrets", `cd; cat ${Object.keys(FILES).join(" ")}`);
    expect(stdout).toBe("");
    expect(rules.sort()).toEqual([...new Set(Object.values(FILES))].sort());
  });
  test("environment files are not read, their examples are", () => {
    writeFileSync(join(workspace, ".env"), "KEY=1\n");
    writeFileSync(join(workspace, ".env.example"), "KEY=\n");
    expect(sh("secrets", "cat .env .env.example").stdout).toBe("KEY=\n");
  });
  test("other processes keep their environment", () => {
    const { stdout, rules } = sh(
      "secrets",
      "cat /proc/$$/environ > /dev/null; cat /proc/self/environ > /dev/null && echo own",
    );
    // Processes of one run may trace each other, so a view does not keep their environment from each other.
    expect([stdout, rules]).toEqual(["own\n", []]);
    const script = "cat /proc/$$/environ; echo on";
    const decided = run("secrets", ["sh", "-c", script], {}, ["--view", "off"]);
    expect([decided.stdout, decided.rules]).toEqual(["on\n", ["other-processes"]]);
    expect(sh("secrets", `tr '\\0' '\\n' < /proc/${process.pid}/environ | head -1; echo on`).stdout).toBe(
      "on\n",
    );
  });
  test("the metadata service is not reached", () =>
    expect(node("secrets", CONNECT(80, "169.254.169.254")).rules).toEqual(["metadata"]));
});

describe("audit", () => {
  test("nothing is stopped", () => {
    const trace = join(base, "audit.jsonl");
    const done = hermes(
      [
        "run",
        "-q",
        "-p",
        join(root, "policies/audit.yaml"),
        "--trace",
        trace,
        "--events",
        "%file,%exec",
        "--",
        "sh",
        "-c",
        "echo x > new; rm new; ls > /dev/null",
      ],
      { cwd: workspace },
    );
    expect(done.status).toBe(0);
    const records = readFileSync(trace, "utf8").trim().split("\n");
    expect(records.length).toBeGreaterThan(10);
    expect(
      records
        .map((line) => (JSON.parse(line) as { action?: string }).action ?? "allow")
        .every((a) => a === "allow"),
    ).toBe(true);
  });
});

describe("fault-injection", () => {
  test("the disk is full now and then, and the same faults come again", () => {
    const script = "i=0; while [ $i -lt 60 ]; do echo $i > out 2>/dev/null || echo $i; i=$((i+1)); done";
    const first = sh("fault-injection", script);
    const failed = first.stdout.split("\n").length - 1;
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(40);
    expect(first.rules).toContain("disk-full");
    expect(sh("fault-injection", script).stdout).toBe(first.stdout);
  });
  test("connections are refused now and then", () => {
    const many =
      'let left = 40, refused = 0; const net = require("net"); const s = net.createServer((c) => c.end()).listen(0, "127.0.0.1", () => next()); function next() { if (!left--) { console.log(refused); return process.exit() } net.connect(s.address().port, "127.0.0.1").on("error", (e) => { if (e.code === "ECONNREFUSED") refused++; next() }).on("connect", function () { this.destroy(); next() }) }';
    const { stdout, rules } = node("fault-injection", many);
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(Number(stdout)).toBeLessThan(40);
    expect(rules).toContain("refused");
  });
  test("files elsewhere are left alone", () => {
    expect(
      sh("fault-injection", "for i in 1 2 3 4 5 6 7 8 9; do cat /etc/hostname; done > /dev/null").rules,
    ).toEqual([]);
  });
});

describe("untrusted", () => {
  test("a program that minds its own business works", () => {
    const { stdout, status } = node(
      "untrusted",
      'const fs = require("fs"); fs.writeFileSync("out", fs.readFileSync("file")); console.log(fs.readFileSync("out", "utf8"), os.cpus().length > 0)',
    );
    expect([status, stdout]).toEqual([0, "content\n true\n"]);
  });
  test("perl, sh and ls work", () => {
    expect(run("untrusted", ["perl", "-e", 'print "perl\\n"']).stdout).toBe("perl\n");
    expect(run("untrusted", ["ls"]).stdout).toBe("file\n");
    expect(sh("untrusted", "read x < file; echo $x").stdout).toBe("content\n");
  });
  test.each([
    ["reading elsewhere", `cat < ${"$HOME"}/.ssh/known_hosts`],
    ["reading the machine's files", "read x < /etc/machine-id"],
    ["writing elsewhere", "echo x > /tmp/untrusted-test"],
    ["other programs", "ls"],
    ["signals", "kill -TERM 1"],
  ])("%s is refused", (_, script) => {
    const { status, rules } = sh("untrusted", script);
    expect(status).not.toBe(0);
    expect(rules.filter((rule) => rule !== "hidden")).toEqual(["default"]); // a shell looks around first
  });
  test("the network is refused", () => expect(node("untrusted", CONNECT(9)).stdout).toBe("EACCES\n"));
  test("no way to read what is elsewhere works", () => {
    const other = join(home, "file");
    writeFileSync(other, "secret\n");
    expect(run("untrusted", [ways, "read", other, workspace]).stdout).toBe("");
    expect(run("untrusted", [ways, "write", other, workspace]).stdout).toBe("");
  });
});

describe("agent", () => {
  test("ordinary work goes on", () => {
    const script =
      "git init -q . && git config user.email a@b && git config user.name a && git add file && git commit -qm one && git log --oneline | wc -l && node -e 'console.log(1 + 1)' && grep -r content . | head -1";
    const { stdout, status, rules } = sh("agent", script);
    expect([status, stdout.split("\n").slice(0, 2), rules]).toEqual([0, ["1", "2"], []]);
  });
  test.each([
    ["publishing", "git push origin main", "push"],
    ["publishing from elsewhere", "git -C . push", "push"],
    ["releasing", "npm publish", "publish"],
    ["secrets", "cat ~/.ssh/id_ed25519", "ssh"],
    ["changes elsewhere", "echo x > ~/notes", "elsewhere"],
    ["code that runs later, elsewhere", "echo x > ~/.bashrc", "outside"],
    ["code that runs later", "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", "later-code"],
    ["mounting", "mount --bind . /mnt", "machine"],
  ])("%s is stopped", (_, script, rule) => {
    const { status, rules } = sh("agent", script);
    expect(status).not.toBe(0);
    expect(rules).toContain(rule);
  });
  test("a policy may extend it", async () => {
    const file = join(workspace, "mine.yaml");
    writeFileSync(file, "name: mine\nextends: agent\nrules: [{ id: docs, allow: write, path: ~/docs/** }]\n");
    const policy = await loadYaml(file, { home });
    expect(policy.rules[0]!.id).toBe("docs");
    expect(policy.rules.map(({ id }) => id)).toContain("elsewhere");
  });
});
