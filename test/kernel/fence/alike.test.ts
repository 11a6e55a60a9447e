import { randomBytes } from "node:crypto";
import { describe } from "vitest";
import { FENCED, type Program, same, shell } from "../../transparency/both-ways.js";

/** Behind a strict fence, what is a program's own is as it was. Terminals and debuggers: test/transparency. */
const alike = (claim: string, program: Program) => same(claim, { ...program, ways: [FENCED] });

describe("behind a strict fence", () => {
  alike("stdin is the program's", {
    ...shell('read -r line; echo "got $line"'),
    under: ["/bin/bash", "-c", 'seq 100 > numbers; { "$@"; cat; } < numbers', "bash"],
  });
  alike("large data comes through pipes unchanged", {
    ...shell("tee >(cat > copy) | gzip -1 | gzip -d | cat; wait"),
    input: randomBytes(300_000),
  });
  alike("closed descriptors stay closed", {
    ...shell("[ -e /proc/self/fd/0 ] || echo closed"),
    under: ["/bin/bash", "-c", 'exec <&-; "$@"', "bash"],
  });
  alike(
    "files are made with the same modes and owners",
    shell("umask 027; echo a > f; mkdir d; ln -s f l; ln f h; mkfifo p; stat -c '%n %u %g %a %h' *; id"),
  );
  alike("limits, niceness and the mask are the same", {
    ...shell("ulimit -a; umask; nice; cat /proc/self/oom_score_adj"),
    under: ["/bin/bash", "-c", 'umask 077; ulimit -n 300; ulimit -c 0; exec nice -n 3 "$@"', "bash"],
  });
  alike(
    "processes, signals and exit codes are the same",
    shell(
      "trap 'echo usr1' USR1; kill -USR1 $$; (exit 3); echo $?; { sh -c 'kill -SEGV $$'; } 2> /dev/null; echo $?; sleep 100 & kill %1; wait $!; echo $?; exit 9",
    ),
  );
  alike(
    "orphans go on",
    shell(
      "(setsid sh -c 'sleep 0.2; echo late > late' &) ; until [ -e late ]; do sleep 0.05; done; cat late",
    ),
  );
  alike(
    "many processes come and go",
    shell("for i in $(seq 200); do true & done; wait; seq 50 | xargs -P8 -n1 echo | sort -n | tail -1"),
  );
  alike(
    "a set-user-id bit and device nodes in the workspace are no way out",
    shell("cp /bin/true t; chmod u+s t; ./t; echo $?; stat -c %a t"),
  );
  alike("locks, mapped files and sparse files work", {
    command: [
      "/usr/bin/python3",
      "-c",
      "import fcntl, mmap, os\nf = open('f', 'w+b'); f.truncate(1 << 20); fcntl.flock(f, fcntl.LOCK_EX)\nm = mmap.mmap(f.fileno(), 0); m[:3] = b'abc'; m.flush()\nprint(os.stat('f').st_size, open('f', 'rb').read(3), os.cpu_count(), os.getcwd())",
    ],
  });
});
