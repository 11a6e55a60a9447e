import { describe } from "vitest";
import { compile, same } from "./both-ways.js";

const state = compile("start-state");
/** Puts the process into some state first, and then becomes the program or HERMES. */
const bash = (script: string) => ["/bin/bash", "--norc", "-c", `${script}; exec "$@"`, "bash"];
const perl = (script: string) => ["/usr/bin/perl", "-MPOSIX", "-e", `${script}; exec { $ARGV[0] } @ARGV`];

const program = (under: readonly string[], args: readonly string[] = []) => ({
  command: [state, ...args],
  // HERMES gives the program 0, 1 and 2 only, so the bare run is to have no others either.
  under: [...perl("POSIX::close($_) for 3 .. 1023"), ...under],
  reads: "state",
});

describe("a program starts with the same", () => {
  same("descriptors, signals, limits, ids, attributes and namespaces", program([]));
  same("limit of open files", program(bash("ulimit -Sn 200")));
  same(
    "low limits of everything",
    program(
      bash("ulimit -n 500; ulimit -c 0; ulimit -s 4096; ulimit -Su 5000; ulimit -f 9999; ulimit -x 99"),
    ),
  );
  same(
    "file mode mask, niceness and working directory",
    program(bash("umask 027; renice -n 7 $$ > /dev/null; mkdir -p $HOME/d; cd -P /usr/lib/..; cd $HOME")),
  );
  same(
    "CPU affinity, scheduling policy and OOM score",
    program(
      bash(
        "taskset -pc 0 $$ > /dev/null; chrt -b -p 0 $$; ionice -c 3 -p $$; echo 500 > /proc/self/oom_score_adj",
      ),
    ),
  );
  same("ignored signals", program(bash("trap '' HUP USR1 PIPE TSTP")));
  same(
    "blocked signals",
    program(perl("sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1, SIGTERM, SIGCHLD, 40)) or die")),
  );
  same("death signal, timer slack and personality", program(["setarch", "-R"]));
  same("closed stdin", program(bash("exec <&-")));
  same("closed stdout", program(bash("exec >&-")));
  same("closed stderr", program(bash("exec 2>&-")));
  same("closed stdin, stdout and stderr", program(bash("exec <&- >&- 2>&-")));
  same(
    "files as stdin, stdout and stderr, and their positions",
    program(bash("echo abc > i; exec <i >>o 2>>o; read -n1; echo x")),
  );
  same("read-only stdout and write-only stdin", program(bash("echo abc > i; exec 0>o 1<i")));
  same(
    "non-blocking pipes",
    program(
      perl(
        "for (*STDIN, *STDOUT, *STDERR) { fcntl($_, F_SETFL, fcntl($_, F_GETFL, 0) | O_NONBLOCK) or die }",
      ),
    ),
  );
  same(
    "environment, in its order, with names and bytes of any kind",
    program([
      "env",
      "-i",
      "PATH=/usr/bin:/bin",
      "Z=1",
      "a-b=dash",
      "BASH_FUNC_f%%=() { :; }",
      "A= x\ny ",
      "1x=one",
      "0y=zero",
      "EMPTY=",
    ]),
  );
  same(
    "variables and arguments that are not UTF-8",
    program(perl('$ENV{BYTES} = "\\xff\\xfe\\x80"; push @ARGV, "\\xff\\xc3", "", "\\xe2\\x82\\xac", " "')),
  );
  same("arguments", program([], ["", "-x", "--", "--door", "a b", "\n", "'\"$"]));
});
