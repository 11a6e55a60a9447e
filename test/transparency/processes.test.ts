import { describe } from "vitest";
import { compile, same, shell } from "./both-ways.js";

describe("threads and processes", () => {
  const exec = compile("exec-thread");
  same("500 threads run alike", { command: [compile("threads")] });
  same("a tree of 2,000 processes ends alike", { command: [compile("fork-tree")] });
  same("a thread that is not the leader can exec", { command: [exec, "6"] });
  same("posix_spawn and vfork run alike", { command: [compile("spawn")] });
  same("a daemon of two forks and a setsid outlives the program alike", { command: [compile("daemon")] });
  same("a static program runs alike", { command: [compile("threads", "-static")] });
  same(
    "a script without an interpreter line, and one with, run alike",
    shell(`printf 'echo "plain $0 $1"\\n' > a; printf '#!/usr/bin/env perl\\nprint "perl $0 @ARGV\\\\n"; exit 4' > b
      chmod +x a b; ./a x; ./b y z; echo $?; ./none; echo $?; chmod -x a; ./a; echo $?`),
  );
  same("a program's wait statuses are alike", { command: [compile("wait")] });
});
