import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";

/** The policies of whole agents, on shells that go by the agents' names. */

let folder: string;
let home: string;
let project: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-whole-")));
  home = join(folder, "home");
  project = join(folder, "project");
  for (const path of [join(home, ".codex"), project]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, ".codex/auth.json"), "CREDENTIAL\n");
  writeFileSync(join(home, ".codex/config.toml"), "model = 1\n");
  for (const where of [folder, project]) {
    copyFileSync("/bin/bash", join(where, "codex"));
    chmodSync(join(where, "codex"), 0o755);
  }
  env = { PATH: process.env.PATH, HOME: home, HERMES_HOME: join(folder, "state") };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const READ = "read x < ~/.codex/auth.json && echo got $x";

function run(words: readonly string[], command: readonly string[]) {
  return hermes(["run", "-q", "-p", "codex", "--ask", "no", ...words, "--", ...command], {
    cwd: project,
    env,
  });
}

const agent = (script: string, ...words: readonly string[]) =>
  run(words, [join(folder, "codex"), "-c", script]);

describe.each(["standard", "strict"])("behind a %s fence", (fence) => {
  it("the agent reads and writes in its own folder", () => {
    const { stdout, stderr } = agent(`${READ}; echo 1 > ~/.codex/state && echo wrote`, "--fence", fence);
    expect([stdout, stderr]).toEqual(["got CREDENTIAL\nwrote\n", ""]);
    expect(readFileSync(join(home, ".codex/state"), "utf8")).toBe("1\n");
  });

  it("its commands do not, and neither do orphans, nor the agent's own program run by a command", () => {
    const own = join(folder, "codex");
    const { stdout } = agent(
      `cat ~/.codex/auth.json; bash -c '${READ}'; ${own} -c '${READ}'; ./codex -c '${READ}'
       (setsid ${own} -c 'while test $(cut -d" " -f4 /proc/self/stat) = '$$'; do :; done; ${READ}; echo over > over' &)
       while ! test -e over; do sleep 0.05; done; rm over; echo end`,
      "--fence",
      fence,
    );
    expect(stdout).toBe("end\n");
  });
});

it("the program that npm installs starts the agent, which is then the agent; what that runs is not", () => {
  const own = join(folder, "codex");
  const script = `${READ}; ${own} -c '${READ}'; true`;
  const start = `require("child_process").spawnSync(${JSON.stringify(own)}, ["-c", ${JSON.stringify(script)}], { stdio: "inherit" })`;
  const node = run([], [process.execPath, "-e", start]);
  expect([node.stdout, node.stderr]).toEqual([
    "got CREDENTIAL\n",
    expect.stringMatching(/^[^\n]*auth\.json: No such file or directory\n$/),
  ]);
  // With another program at the beginning, no child is the agent.
  const other = run([], ["/bin/bash", "-c", `${own} -c '${READ}; true'; true`]);
  expect(other.stdout).toBe("");
});

it("a person is asked before its settings change, whoever changes them", () => {
  const { stdout } = agent("echo '#' >> ~/.codex/config.toml && echo changed; true");
  expect([stdout, readFileSync(join(home, ".codex/config.toml"), "utf8")]).toEqual(["", "model = 1\n"]);
});

it("commands can neither look into the agent nor open its debugger", () => {
  const attach = "import ctypes, os; print(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0))";
  const { stdout } = agent(
    `trap 'echo opened' USR1; python3 -c '${attach}'; bash -c 'kill -USR1 $PPID'; cat /proc/$$/environ | tr -d '\\0'; true`,
  );
  expect(stdout).toBe("-1\n");
});

it("behind a strict fence it keeps its own variables, and no others", () => {
  const script = "echo $OPENAI_API_KEY $AWS_SECRET_ACCESS_KEY";
  const { stdout } = hermes(
    ["run", "-q", "-p", "codex", "--fence", "strict", "--", join(folder, "codex"), "-c", script],
    { cwd: project, env: { ...env, OPENAI_API_KEY: "mine", AWS_SECRET_ACCESS_KEY: "other" } },
  );
  expect(stdout).toBe("mine\n");
});

it("a policy sets variables of the program", () => {
  const { stdout } = hermes(["run", "-q", "-p", "gemini", "--", "sh", "-c", "echo $GEMINI_CLI_NO_RELAUNCH"], {
    cwd: project,
    env: { ...env, GEMINI_CLI_NO_RELAUNCH: "false" },
  });
  expect(stdout).toBe("true\n");
});
