import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES, hermes, shell } from "../support/cli.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";

let folder: string;
let allowAll: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-failure-"));
  allowAll = file(
    "all.ts",
    `import { definePolicy } from "hermes-runtime"; export default definePolicy({ name: "all", actions: ["deny"], on: { "*"() {} } });`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string, mode = 0o644): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe("the exit status", () => {
  it("is the program's own", () => {
    for (const code of [0, 1, 42, 124, 125, 126, 127, 255])
      expect(hermes(["run", "-q", "--", "sh", "-c", `exit ${code}`]).status).toBe(code);
  });

  it("is 128+n when a signal ended it", () => {
    for (const [name, number] of [
      ["TERM", 15],
      ["KILL", 9],
      ["SEGV", 11],
      ["PIPE", 13],
    ] as const)
      expect(hermes(["run", "-q", "--", "sh", "-c", `kill -${name} $$`]).status, name).toBe(128 + number);
  });

  it("is 127 for what is not found and 126 for what cannot be executed, as in a shell", () => {
    expect(hermes(["run", "--", "no-such-program"])).toMatchObject({
      status: 127,
      stderr: "hermes: no-such-program: command not found\n",
    });
    expect(hermes(["run", "--", "./no/such/file"]).status).toBe(127);
    expect(hermes(["run", "--", file("plain", "text")])).toMatchObject({
      status: 126,
      stderr: expect.stringMatching(/cannot execute: EACCES/),
    });
    expect(hermes(["run", "--", "/usr"]).status).toBe(126);
    expect(hermes(["run", "--", file("noexec", "#!/no/such/interpreter\n", 0o755)]).status).toBe(127);
    for (const door of ["notify", "trace"]) {
      expect(hermes(["run", "-p", allowAll, "--door", door, "--", "./no/such/file"]).status).toBe(127);
      expect(hermes(["run", "-p", allowAll, "--door", door, "--", join(folder, "plain")]).status).toBe(126);
    }
  });

  it("runs a script without #! with sh, as execvp does", () => {
    expect(hermes(["run", "-q", "--", file("script", 'echo "ran $1"\n', 0o755), "well"])).toMatchObject({
      status: 0,
      stdout: "ran well\n",
    });
  });

  it("is 2 for wrong usage, with a hint", () => {
    expect(hermes(["run", "--polcy", "x", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/unknown option '--polcy'[\s\S]*--policy/),
    });
    expect(hermes(["run"])).toMatchObject({ status: 2, stderr: expect.stringMatching(/no command to run/) });
    expect(hermes(["rnu", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/unknown command 'rnu'[\s\S]*run/),
    });
    expect(hermes(["run", "--door", "window", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--door takes auto or notify or trace, not "window"/),
    });
    expect(hermes(["run", "--limit", "nosuch=1", "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/unknown limit "nosuch"/),
    });
    expect(hermes(["run", "--fd", "x", "--", "true"]).status).toBe(2);
    expect(hermes(["run", "-e", "opennat", "-t", join(folder, "t"), "--", "true"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--events: unknown system call "opennat": did you mean "openat"\?/),
    });
  });

  it("is 125 when HERMES itself fails, and says at which step", () => {
    expect(hermes(["run", "-p", "/no/policy.ts", "--", "true"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/\/no\/policy\.ts: cannot read it: ENOENT/),
    });
    expect(hermes(["run", "-p", "agnet", "--", "true"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(
        /agnet: no such file, and HERMES ships no policy .*\(shipped: agent, audit, /,
      ),
    });
    const doors = [[], ["--door", "notify"], ["--door", "trace"]].map((door) => [
      "-p",
      join(root, "policies/agent.yaml"),
      ...door,
    ]);
    for (const options of [[], ...doors])
      expect(hermes(["run", ...options, "-C", "/no/such/folder", "--", "/bin/true"])).toMatchObject({
        status: 125,
        stderr: expect.stringMatching(/entering the working directory failed: ENOENT/),
      });
    expect(hermes(["run", "--fd", "77", "--", "true"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/keeping descriptors failed: EBADF/),
    });
  });

  it("is 125 when a policy requires a protection that the run does not have", () => {
    const policy = file(
      "requires.yaml",
      "name: r\nrequires: [notify, no_new_privs]\nrules:\n  - { id: x, deny: mkdir }\n",
    );
    expect(hermes(["run", "-q", "-p", policy, "--", "true"]).status).toBe(0);
    expect(hermes(["run", "-p", policy, "--door", "trace", "--", "true"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(
        /needs notify \(policy r requires it\), which is not available here: .*--door trace/,
      ),
    });
  });

  it("is the program's when a rule only watches, and what was watched is told", () => {
    const policy = file(
      "watch.yaml",
      "name: w\nrules:\n  - { id: seen, watch: mkdir, reason: A folder was made. }\n",
    );
    const { status, stderr } = hermes(["run", "-p", policy, "--", "mkdir", join(folder, "watched")]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/watch +mkdir +×1 +w\/seen: A folder was made\./);
  });

  it("passes arguments on untouched, with and without --", () => {
    expect(hermes(["run", "-q", "printf", "%s|", "-q", "--json", "a b", ""]).stdout).toBe("-q|--json|a b||");
    expect(hermes(["run", "-q", "--", "printf", "%s|", "--", "-x"]).stdout).toBe("--|-x|");
    expect(hermes(["run", "-q", "--target", "/bin/echo", "hi", "-n"]).stdout).toBe("hi -n\n");
  });
});

describe("a policy that fails", () => {
  it("denies that call and says where in the policy it happened", () => {
    const policy = file(
      "throws.ts",
      `import { definePolicy } from "hermes-runtime";\nexport default definePolicy({\n  name: "thrower",\n  on: {\n    mkdir(e) {\n      throw new Error("cannot decide");\n    },\n  },\n});\n`,
    );
    const { status, stderr } = hermes(["run", "-p", policy, "--", "mkdir", join(folder, "never")]);
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`policy thrower failed on mkdir at ${policy}:6:\\d+: cannot decide`));
    expect(existsSync(join(folder, "never"))).toBe(false);
  });

  it("that answers what it did not declare is denied too", () => {
    const policy = file(
      "undeclared.ts",
      `import { definePolicy, redirect } from "hermes-runtime";\nexport default definePolicy({ name: "liar", actions: ["deny"], on: { mkdir: () => redirect("/x") } });`,
    );
    const { status, stderr } = hermes(["run", "-p", policy, "--", "mkdir", join(folder, "never")]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/answered modify, which is not among the actions that it declared/);
  });

  it("cannot be loaded: the program does not start", () => {
    const policy = file("broken.ts", "export default definePolicy({ name: 'x', on: {");
    const { status, stderr } = hermes(["run", "-p", policy, "--", "touch", join(folder, "started")]);
    expect(status).toBe(125);
    expect(stderr).toMatch(/broken\.ts:1:\d+: /);
    expect(existsSync(join(folder, "started"))).toBe(false);
  });

  it("prints to stderr, never to the program's stdout", () => {
    const policy = file(
      "prints.ts",
      `import { definePolicy } from "hermes-runtime"; console.log("loading"); export default definePolicy({ name: "p", on: { uname() { console.log("deciding"); } } });`,
    );
    const { stdout, stderr } = hermes(["run", "-q", "-p", policy, "--", "uname", "-s"]);
    expect(stdout).toBe("Linux\n");
    expect(stderr).toBe("loading\ndeciding\n");
  });
});

describe("a trace that cannot be written", () => {
  it("stops the run by default, and says so", () => {
    const { status, stderr } = hermes([
      "run",
      "-t",
      "/dev/full",
      "--",
      "sh",
      "-c",
      "while :; do :; /bin/true; done",
    ]);
    expect(status).toBe(125);
    expect(stderr).toMatch(/writing the trace to \/dev\/full failed: ENOSPC/);
  });

  it("lets the run go on when told so, and says that the trace is not complete", () => {
    const { status, stdout, stderr } = hermes([
      "run",
      "-t",
      "/dev/full",
      "--on-trace-error",
      "continue",
      "--",
      "sh",
      "-c",
      "ls -lR /usr/include > /dev/null; echo done; exit 3",
    ]);
    expect(status).toBe(3);
    expect(stdout).toBe("done\n");
    expect(stderr).toMatch(/ENOSPC; the run goes on, and its end says what was not recorded/);
    expect(stderr).toMatch(/INCOMPLETE: without [\d,]+ observations/);
  });

  it("or not even opened, does not start the program", () => {
    const { status, stderr } = hermes([
      "run",
      "-t",
      "/no/such/folder/t.jsonl",
      "--",
      "touch",
      join(folder, "traced"),
    ]);
    expect(status).toBe(125);
    expect(stderr).toMatch(/cannot write the trace to \/no\/such\/folder\/t\.jsonl: ENOENT/);
    expect(existsSync(join(folder, "traced"))).toBe(false);
  });
});

/** Everything that descends from a process, or carries this session's mark in its environment. */
function marked(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const state = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]![0];
        return state !== "Z" && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`MARK=${mark}`);
      } catch {
        return false;
      }
    });
}

describe("when the supervisor is killed with -9", () => {
  const script = `
    (setsid sh -c 'trap "" HUP TERM; while :; do sleep 0.05; done' &) &
    sh -c 'trap "" HUP TERM INT; while :; do :; done' &
    while :; do sleep 0.05; done`;
  const ways: [string, string[]][] = [
    ["the notify door", ["-p", "ALL", "--door", "notify"]],
    ["the trace door", ["-p", "ALL", "--door", "trace"]],
    ["no door at all", []],
  ];
  for (const [name, args] of ways)
    it(`no process of the session is left, with ${name}`, async () => {
      const mark = `${process.pid}-${name.replaceAll(" ", "-")}`;
      const words = [
        "run",
        "-q",
        ...args.map((a) => (a === "ALL" ? allowAll : a)),
        "--env",
        `MARK=${mark}`,
        "--",
        "sh",
        "-c",
        script,
      ];
      const child = spawn(HERMES, words, { stdio: "ignore" });
      await expect.poll(() => marked(mark).length).toBeGreaterThanOrEqual(3);
      child.kill("SIGKILL");
      await until(() => marked(mark).length === 0, "the end of every process of the session");
    });
});

describe("a session in want of something", () => {
  it("of descriptors ends cleanly or fails with a reason, and never hangs", () => {
    for (const limit of [14, 16, 18, 20, 24, 32, 64]) {
      const { status, stderr, signal } = shell(
        `ulimit -n ${limit}; hermes run -q -p ${allowAll} -- sh -c 'ls / | cat > /dev/null'`,
      );
      expect(signal, `with ${limit}`).toBeNull();
      if (status !== 0) expect([status, stderr]).toEqual([125, expect.stringMatching(/^hermes: .+/)]);
    }
  });

  it("of descriptors or file sizes names the limit", () => {
    const run = (limit: string) => shell(`ulimit ${limit}; hermes run -q -- true`);
    expect(run("-n 16")).toMatchObject({ status: 125, stderr: expect.stringContaining("ulimit -n") });
    expect(run("-f 0")).toMatchObject({ status: 125, stderr: expect.stringContaining("ulimit -f") });
    // Only the soft limit: the program has it, HERMES takes what it may.
    expect(shell("ulimit -S -n 16; hermes run -q -- sh -c 'ulimit -n'").stdout).toBe("16\n");
  });

  it("of stdout, stderr or stdin behaves as the program would alone", () => {
    for (const redirection of [">&-", "2>&-", "<&-", ">/dev/full", ">&- 2>&- <&-"]) {
      const program = "sh -c 'echo out; code=$?; ls /proc/self/fd | grep -cx [012]; exit $code'";
      const bare = shell(`${program} ${redirection}`);
      const under = shell(`hermes run -q -- ${program} ${redirection}`);
      expect([under.status, under.stdout], redirection).toEqual([bare.status, bare.stdout]);
    }
  });
});

describe("processes that outlive the program", () => {
  it("stay in the session and are waited for, or are killed when told so", () => {
    const late = join(folder, "late");
    expect(hermes(["run", "-q", "--", "sh", "-c", `(sleep 0.5; echo late > ${late}) & exit 4`]).status).toBe(
      4,
    );
    expect(readFileSync(late, "utf8")).toBe("late\n");
    const never = join(folder, "too-late");
    expect(
      hermes(["run", "-q", "--orphans", "kill", "--", "sh", "-c", `(sleep 1; echo late > ${never}) & exit 5`])
        .status,
    ).toBe(5);
    expect(existsSync(never)).toBe(false);
  });

  it("are still decided on after a double fork and setsid", () => {
    const policy = file(
      "nodaemon.ts",
      `import { definePolicy, deny } from "hermes-runtime"; export default definePolicy({ name: "d", actions: ["deny"], on: { mkdir: () => deny() } });`,
    );
    const target = join(folder, "by-daemon");
    hermes([
      "run",
      "-q",
      "-p",
      policy,
      "--",
      "sh",
      "-c",
      `setsid sh -c '(sleep 0.2; mkdir ${target}) & exit 0' & exit 0`,
    ]);
    expect(existsSync(target)).toBe(false);
  });
});
