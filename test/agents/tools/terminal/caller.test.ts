import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HERMES, hermes } from "../../../support/cli.js";
import { root } from "../../../support/root.js";
import { until } from "../../../support/until.js";

let home: string;
let workspace: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-caller-home-"));
  workspace = mkdtempSync(join(tmpdir(), "hermes-caller-work-"));
  env = { ...process.env, HERMES_HOME: home };
  delete env.HERMES_STORE;
});
afterEach(() => {
  for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
});

const EXEC = ["exec", "--ask", "queue", "-w"];
/** What it has written so far. */
function outputOf({ stdout }: ChildProcess): () => string {
  let text = "";
  stdout!.on("data", (part) => {
    text += part;
  });
  return () => text;
}

describe("a command of hermes exec", () => {
  it("reads our stdin as it comes", async () => {
    const child = spawn(HERMES, [...EXEC, workspace, 'while read x; do echo "got $x"; done; echo over'], {
      env,
    });
    const output = outputOf(child);
    for (const word of ["one", "two"]) {
      child.stdin.write(`${word}\n`);
      await until(() => output().endsWith(`got ${word}\n`), `the answer to ${word}`);
    }
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
    expect(output()).toBe("got one\ngot two\nover\n");
  });

  it("leaves what it does not read to the next reader", () => {
    writeFileSync(join(workspace, "lines"), "1\n2\n3\n");
    const script = `{ "$0" exec -w . 'read x; echo "first $x"'; cat; } <lines; "$0" exec -w . 'cat; echo none' <&-`;
    const { stdout } = spawnSync("bash", ["-c", script, HERMES], { env, cwd: workspace, encoding: "utf8" });
    expect(stdout).toBe("first 1\n2\n3\nnone\n");
  });

  it("has a terminal where we have one: keys, size and Ctrl-C are its own", () => {
    const command =
      'test -t 0 && test -t 1 && stty size; read x; echo "<$x>"; echo ready; sleep 1000; echo after';
    const steps = [
      ["33 99", "hello\r"],
      ["ready", "\u0003"],
    ];
    const driver = join(root, "test/agents/tools/terminal/on-terminal.py");
    const inside = `stty rows 33 cols 99; "$0" "$@"; echo "status $?"; stty -a`;
    const words = [driver, JSON.stringify(steps), "bash", "-c", inside, HERMES, ...EXEC, workspace, command];
    const { output } = JSON.parse(spawnSync("python3", words, { env, encoding: "utf8" }).stdout);
    expect(output).toContain("33 99\r\nhello\r\n<hello>\r\nready\r\n^C");
    expect(output).toContain("status 130\r\n");
    for (const mode of [/\bopost\b/, / icanon /, / echo /]) expect(output).toMatch(mode); // as they were before
    expect(output).not.toContain("after");
  });

  it("reads nothing from a terminal in whose background it is", () => {
    const driver = join(root, "test/agents/tools/terminal/on-terminal.py");
    const exec = `"$0" "$@" 'read x; echo "background <$x>"' &`;
    const inside = `set -m; ${exec} wait; echo ready; read y; echo "shell <$y>"`;
    const words = [
      driver,
      JSON.stringify([["ready", "typed\r"]]),
      "bash",
      "-c",
      inside,
      HERMES,
      ...EXEC,
      workspace,
    ];
    const { output } = JSON.parse(spawnSync("python3", words, { env, encoding: "utf8" }).stdout);
    expect(output).toContain("background <>");
    expect(output).toContain("shell <typed>");
  });

  it("ends when its caller is killed", async () => {
    const marker = `${1000 + (process.pid % 1000)}.25`;
    const shell = spawn(
      "sh",
      ["-c", `"$0" exec -w "$1" "echo started; sleep ${marker}"; true`, HERMES, workspace],
      { env },
    );
    const output = outputOf(shell);
    await until(() => output().includes("started"), "the command's start");
    shell.kill("SIGKILL");
    await until(() => !isRunning(`sleep\0${marker}`), "the end of the command");
  });

  it("waits for no answer when its caller is killed, and does not run after a late one", async () => {
    mkdirSync(join(workspace, "data"));
    const shell = spawn(
      "sh",
      ["-c", `"$0" exec --ask queue -w "$1" "rm -rf data"; true`, HERMES, workspace],
      { env },
    );
    const questions = () =>
      JSON.parse(hermes(["approvals", "list", "--json"], { env }).stdout) as { id: string }[];
    const [question] = await until(() => {
      const all = questions();
      return all.length > 0 ? all : undefined;
    }, "the question");
    shell.kill("SIGKILL");
    await until(() => questions().length === 0, "the question's end");
    expect(hermes(["approvals", "approve", question!.id], { env }).status).not.toBe(0);
    expect(spawnSync("ls", [workspace], { encoding: "utf8" }).stdout).toBe("data\n");
  });
});

function isRunning(words: string): boolean {
  return spawnSync("ls", ["/proc"], { encoding: "utf8" })
    .stdout.split("\n")
    .some((pid) => /^\d+$/.test(pid) && commandLine(pid).startsWith(words));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
