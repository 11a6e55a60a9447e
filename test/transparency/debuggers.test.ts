import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { build, built, FENCED, needs, same, shell } from "./both-ways.js";

needs("gdb", "strace", "gcc");

const source = join(built, "add.c");
writeFileSync(
  source,
  `#include <stdio.h>
int add(int a, int b) { return a + b; }
int main(void) { int sum = add(40, 2); printf("%d\\n", sum); return sum; }
`,
);
build("add", "gcc", ["-g", "-O0", source]);

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
  same("strace can count and inject", {
    ...shell(`strace -qq -e trace=none -e inject=unlink,unlinkat:error=EPERM rm -f /nonexistent; echo $?`),
    ways,
  });
});
