import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { program } from "../../support/programs.js";

/** A person sees all of a question, and nothing else while it is asked; only that person answers it. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-terminal-"));
  writeFileSync(
    join(folder, "ask.yaml"),
    "name: asking\nrules:\n  - { id: touch, ask: exec, path: '**/touch', reason: A person decides. }\n",
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ANSWER = fileURLToPath(new URL("../../support/answer-on-terminal.py", import.meta.url));
const RUNNER = process.env.HERMES_UNDER_TEST ?? HERMES; // another version, to see an attack succeed there

function onTerminal(answers: readonly string[], ...words: string[]): string {
  const args = [ANSWER, JSON.stringify(answers), RUNNER, "run", "-p", join(folder, "ask.yaml"), ...words];
  const env = { ...process.env, TERM: "xterm", HERMES_HOME: folder };
  const done = spawnSync("python3", args, { encoding: "latin1", timeout: 110_000, env, cwd: folder });
  return done.stdout;
}

/** What the terminal got from the beginning of a question until it went back to what was there before. */
function whileAsked(shown: string): string {
  const from = shown.search(/hermes: approval [0-9a-f]{8}: may/);
  const to = shown.indexOf("\u001b[?1049l", from);
  return shown.slice(from, to < 0 ? undefined : to);
}

describe("while a question is on the terminal", () => {
  const made = () => join(folder, "made");
  it.each([
    ["auto", "standard"],
    ["notify", "none"],
    ["trace", "none"],
    ["trace", "standard"],
    ["auto", "strict"],
  ])("the program cannot write over it, type into it or change it (door %s, fence %s)", (door, fence) => {
    const answers = ["what?", "what?", "what?", "n"];
    const shown = onTerminal(
      answers,
      "--orphans",
      "kill",
      "--door",
      door,
      "--fence",
      fence,
      "--",
      program("paint"),
      "touch",
      made(),
    );
    const asked = whileAsked(shown);
    expect(shown).toContain("PAINTED");
    expect(asked).not.toContain("PAINTED");
    expect(asked.match(/please answer/g), "it takes what is typed").toHaveLength(3);
    expect(asked, "what is typed is seen").toMatch(/silence\) what\?/);
    expect(existsSync(made()), "a no is a no").toBe(false);
    expect(shown.slice(shown.indexOf("\u001b[?1049l")), "the program runs on").toContain("PAINTED");
  });

  it("what was typed before it does not count", () => {
    const script = `printf 'Enter is no'; until [ -e ${folder}/typed ]; do sleep 0.02; done; touch ${made()}`;
    // The script's own words make the person type too early; a second line comes to the question itself.
    writeFileSync(join(folder, "early.py"), EARLY);
    const args = [
      join(folder, "early.py"),
      join(folder, "typed"),
      RUNNER,
      "run",
      "-p",
      join(folder, "ask.yaml"),
    ];
    const env = { ...process.env, TERM: "xterm", HERMES_HOME: folder };
    const { stdout } = spawnSync("python3", [...args, "--", "sh", "-c", script], {
      encoding: "latin1",
      timeout: 110_000,
      env,
    });
    expect(stdout).toContain("silence) n");
    expect(existsSync(made())).toBe(false);
  });
});

/** Types y before it is asked, and n when it is. */
const EARLY = `
import os, pty, select, sys, time
pid, tty = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen, step, until = b"", 0, time.time() + 90
while time.time() < until:
    if select.select([tty], [], [], 0.1)[0]:
        try:
            piece = os.read(tty, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    if step == 0 and b"Enter is no" in seen:
        os.write(tty, b"y\\ny\\n")
        step = 1
    if step == 1 and seen.count(b"y\\r\\n") >= 2:
        open(sys.argv[1], "w").close()
        step = 2
    if step == 2 and b"s of silence)" in seen:
        os.write(tty, b"n\\n")
        step = 3
os.waitpid(pid, 0)
`;

describe("a long question", () => {
  it("is shown whole, page by page, and is not granted before its end", () => {
    const words = Array.from({ length: 400 }, (_, i) => `word-${i}`);
    // A person who types y at every page, and n where it can be answered.
    const pages = readFileSync(ANSWER, "utf8")
      .replace('seen.count(b"please answer")', 'seen.count(b"pages that follow")')
      .replace("answers[given].encode()", '(b"n" if b"Enter is no" in seen else b"y")');
    writeFileSync(join(folder, "pages.py"), pages);
    const run = [RUNNER, "run", "-p", join(folder, "ask.yaml"), "--", "touch", ...words];
    const args = [join(folder, "pages.py"), JSON.stringify(Array(50).fill("")), ...run];
    const env = { ...process.env, TERM: "xterm", HERMES_HOME: folder };
    const { stdout } = spawnSync("python3", args, { encoding: "latin1", timeout: 110_000, cwd: folder, env });
    const shown = stdout
      .replace(/\s*pages that follow: \d+ \(Enter goes on, n is no\) y?\s*/g, "\r\n")
      .replace(/\u001b\[[0-9;?!]*[A-Za-z]/g, "")
      .replace(/\r\n {8}/g, "");
    expect(shown).toContain(`what  run touch ${words.join(" ")}\r\n`);
    expect(words.filter((word) => existsSync(join(folder, word)))).toEqual([]);
  });

  it.each([
    [3500, /too long to be read by a person \(\d+ letters\)/],
    [20_000, /too long to be read by a person \(\d+ letters\)/],
  ])("that is too long to be read is refused, with the reason (%i arguments)", (count, reason) => {
    expect(onTerminal([], "--", "sh", "-c", `touch $(seq 1 ${count}); true`)).toMatch(reason);
    expect(existsSync(join(folder, String(count)))).toBe(false);
  });
});

describe("a terminal that another program reads", () => {
  it("is not written to, also where its user may", () => {
    const script = [
      "import os, pty, sys, subprocess",
      "pid, tty = pty.fork()",
      "if pid == 0: os.execvp('sh', ['sh', '-c', 'tty; exec sleep 100'])",
      "name = os.read(tty, 100).decode().strip()",
      "done = subprocess.run([*sys.argv[1:], 'sh', '-c', f'echo PAINTED > {name}; echo own'])",
      "os.set_blocking(tty, False)",
      "try: seen = os.read(tty, 100)",
      "except BlockingIOError: seen = b''",
      "print('seen', seen)",
      "os.kill(pid, 9)",
    ];
    const run = [RUNNER, "run", "-q", "-p", join(folder, "ask.yaml"), "--"];
    const { stdout } = spawnSync("python3", ["-c", script.join("\n"), ...run], {
      encoding: "utf8",
      timeout: 110_000,
    });
    expect(stdout).toBe("own\nseen b''\n");
  });
});
