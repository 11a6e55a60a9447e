import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ALL_WAYS, built, FENCED, hermes, needs, outcome } from "./both-ways.js";

needs("python3", "perl", "script");

const PLAYER = fileURLToPath(new URL("./programs/terminal.py", import.meta.url));
const run = join(built, "run");
type Step = [wait: string, type: string];
const TERMINATES = `perl -e '$| = 1; $SIG{TERM} = sub { print "got TERM\\n"; $n++ }; print "rea", "dy\\n"; select undef, undef, undef, 0.1 until $n; select undef, undef, undef, 0.3; exit 5'`;
const CTRL = { c: "\x03", d: "\x04", z: "\x1a" };

/** What a terminal shows when these keys are typed into a shell, in which `$RUN` runs a program bare or mediated. */
async function session(prefix: readonly string[], steps: Step[]): Promise<string> {
  const words = prefix.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  writeFileSync(run, `#!/bin/bash\nexec ${words} "$@"\n`, { mode: 0o755 });
  const all: Step[] = [["out> ", `RUN=${run}\n`], ...steps, ["out> ", "exit 0\n"]];
  const { stdout, stderr } = await outcome(["/usr/bin/python3", PLAYER], { input: JSON.stringify(all) });
  return (stdout + stderr).replace(/^\[1\] \d+/gm, "[1] pid");
}

function sameAtTerminal(claim: string, steps: Step[]): void {
  let bare: Promise<string> | undefined;
  test.each([...ALL_WAYS, FENCED])(`${claim}: %s`, async (way) => {
    bare ??= session(["env"], steps);
    const expected = await bare;
    expect(expected).not.toContain("***");
    expect(await session(hermes(way, []), steps)).toBe(expected);
  });
}

describe("at a terminal", () => {
  sameAtTerminal("an interactive shell has job control", [
    ["out> ", "$RUN env PS1='in> ' bash --norc --noprofile --noediting -i\n"],
    ["\\nin> ", "tty -s; echo $?; stty size\n"],
    ["24 80\\s+in> ", "cat\n"],
    ["cat\\s", "hello\n"],
    ["hello\\s+hello\\s", CTRL.c],
    ["in> ", "echo $?\n"],
    ["130\\s+in> ", "sh -c 'echo u''p; exec sleep 100'\n"],
    ["\\sup\\s", CTRL.z],
    ["Stopped.*\\s+in> ", "jobs\n"],
    ["Stopped.*\\s+in> ", "bg\n"],
    ["bg\\s+.* &\\s+in> ", "p=$(jobs -p); disown -a; kill $p; echo $?\n"],
    ["0\\s+in> ", "cat\n"],
    ["cat\\s", "once\n"],
    ["once\\s+once\\s", CTRL.z],
    ["Stopped.*\\s+in> ", "fg\n"],
    ["fg\\s+cat\\s", "again\n"],
    ["again\\s+again\\s", CTRL.d],
    ["in> ", "size 30 100"],
    ["", "stty size\n"],
    ["30 100\\s+in> ", "suspend\n"],
    ["Stopped.*\\s+out> ", "fg\n"],
    ["-i\\s+in> ", "echo back\n"],
    ["back\\s+back\\s+in> ", "exit 3\n"],
    ["out> ", "echo $?\n"],
    ["3\\s", ""],
  ]);
  sameAtTerminal("a program that handles the terminal's signals gets each of them once and goes on", [
    [
      "out> ",
      `$RUN perl -e '$| = 1; for my $s (qw(INT TSTP WINCH)) { $SIG{$s} = sub { print "got $s\\n"; $n++ } } print "rea", "dy\\n"; select undef, undef, undef, 0.1 until $n == 4; exit 9'\n`,
    ],
    ["ready\\s", CTRL.c],
    ["got INT\\s", CTRL.z],
    ["got TSTP\\s", "size 40 90"],
    ["got WINCH\\s", CTRL.c],
    ["got INT\\s+out> ", "echo $?\n"],
    ["9\\s", ""],
  ]);
  sameAtTerminal("the shell outside sees the program stop and continues it", [
    ["out> ", "$RUN sh -c 'kill -STOP $$; echo ba''ck; exit 4'\n"],
    ["Stopped.*\\s+out> ", "fg\n"],
    ["back\\s+out> ", "echo $?\n"],
    ["4\\s+out> ", `$RUN ${TERMINATES}\n`],
    ["ready\\s", CTRL.z],
    ["Stopped.*\\s+out> ", "bg\n"],
    ["bg\\s+.* &\\s+out> ", "kill %1; wait %1; echo $?\n"],
    ["\\s5\\s", ""],
  ]);
  // The job writes to a file: the order of a background job's output and the shell's prompt is not defined.
  sameAtTerminal("a signal to the job reaches the program once", [
    // The file of the session before is gone first: it says "ready" too.
    ["out> ", "rm -f $RUN.out\n"],
    ["out> ", `$RUN ${TERMINATES} > $RUN.out & until grep -qs ready $RUN.out; do sleep 0.1; done\n`],
    ["\\[1\\].*\\s+out> ", "kill %1; wait %1; echo $?; cat $RUN.out\n"],
    ["\\s5\\s+ready\\s+got TERM\\s", ""],
  ]);
  sameAtTerminal("what the program does to the terminal stays so", [
    ["out> ", "$RUN stty -echo rows 33\n"],
    ["out> ", "stty -a | grep -oE -- '-echo |rows 33'; stty echo\n"],
    ["-echo\\s", ""],
  ]);
  sameAtTerminal("output to a terminal, a pipe from it and a nested terminal are alike", [
    [
      "out> ",
      "$RUN ls --color=auto -C /usr | $RUN cat; $RUN script -qec 'tty -s; echo nested $?; stty size' /dev/null\n",
    ],
    // What is typed while `script` still runs would be its own.
    ["nested 0\\s+\\d+ \\d+\\s+out> ", "$RUN sh -c 'echo rea''dy; exec cat'\n"],
    ["ready\\s", `typed${CTRL.d}${CTRL.d}`],
  ]);
});
