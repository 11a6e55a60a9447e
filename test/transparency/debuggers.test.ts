import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";
import { build, built, FENCED, needs, same, shell } from "./both-ways.js";

needs("gdb", "strace", "ltrace", "gcc");

const source = join(built, "add.c");
writeFileSync(
  source,
  `#include <stdio.h>
int add(int a, int b) { return a + b; }
int main(void) { int sum = add(40, 2); printf("%d\\n", sum); return sum; }
`,
);
build("add", "gcc", ["-g", "-O0", source]);
const calls = join(built, "calls.c");
writeFileSync(calls, `#include <stdio.h>\nint main(void) { return puts("one") + puts("two") < 0; }\n`);
build("calls", "gcc", ["-O0", "-fno-pie", "-no-pie", "-Wl,-z,lazy", calls]);

/** The notify door leaves ptrace to the program. */
describe("debuggers inside", () => {
  const ways = ["the notify door", FENCED] as const;
  same("gdb sets breakpoints, reads variables and sees the program end", {
    ...shell(
      `gdb -q -nx -batch -ex 'set disable-randomization off' -ex 'break add' -ex run -ex 'print a + b' -ex bt -ex finish -ex continue $BUILT/add 2>&1 | sed 's/0x[0-9a-f]*/ADDRESS/g; s/process [0-9]*/process N/g'`,
    ),
    ways,
  });
  same("strace follows forks and sees the calls", {
    ...shell(
      `strace -f -qq -e trace=write,exit_group -o log sh -c 'echo a; (echo b); exit 3'; echo $?; sed 's/^[0-9]* *//; s/  *= / = /' log | grep -v '^+++\\|SIGCHLD'; rm log`,
    ),
    ways,
  });
  same("ltrace sees the calls into libraries", {
    ...shell(`ltrace -e puts -o log $BUILT/calls; echo $?; grep -c '^calls->puts' log; rm log`),
    ways,
  });
  same("strace can count and inject", {
    ...shell(`strace -qq -e trace=none -e inject=unlink,unlinkat:error=EPERM rm -f /nonexistent; echo $?`),
    ways,
  });
});

/** Its rules on exec and on files hold meanwhile. */
describe("debuggers under the policy agent, by default", () => {
  const under = (script: string) =>
    hermes(["run", "-p", "agent", "--", "bash", "--norc", "-c", script], { cwd: built });
  it("gdb sets breakpoints and reads variables", () => {
    const { stdout } = under(
      "gdb -q -nx -batch -ex 'set disable-randomization off' -ex 'break add' -ex run -ex 'print a + b' -ex continue ./add",
    );
    expect(stdout).toContain("Breakpoint 1, add (a=40, b=2)");
    expect(stdout).toContain("$1 = 42");
    expect(stdout).toMatch(/exited with code 052/);
  });
  it("strace follows forks, and the programs that it traces are judged", () => {
    const { stdout, stderr } = under(
      "strace -f -qq -e trace=write sh -c 'echo a; /bin/echo b; setpriv true; echo $?'",
    );
    expect(stdout).toBe("a\nb\n126\n");
    expect(stderr).toMatch(/write\(1, "b\\n", 2\)/);
    expect(stderr).toMatch(/deny\s+execve\s+×\d+\s+agent\/other-users/);
  });
  it("ltrace sees the calls into libraries", () => {
    const { stdout, stderr } = under("ltrace -e puts ./calls");
    expect(stdout).toBe("one\ntwo\n");
    expect(stderr.match(/calls->puts/g)).toHaveLength(2);
  });
});
