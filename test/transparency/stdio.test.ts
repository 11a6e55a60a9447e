import { randomBytes } from "node:crypto";
import { describe } from "vitest";
import { needs, same, shell } from "./both-ways.js";

needs("python3", "script");

const noise = randomBytes(1_000_000);

describe("stdin, stdout and stderr", () => {
  same("large binary data comes through pipes unchanged", { command: ["cat"], input: noise });
  same("large binary data comes through many pipes unchanged", {
    ...shell(
      "tee >(cat > copy) | dd bs=7777 iflag=fullblock status=none | cat - | gzip -1 | gzip -d | cat; wait",
    ),
    input: noise,
  });
  same(
    "stdout and stderr stay apart",
    shell("for i in $(seq 200); do echo out $i; echo err $i >&2; done; exit 9"),
  );
  same(
    "a reader sees that the program closed its stdout, and the program that its reader left",
    shell(
      `exec 3>&1; { echo first; exec >&-; while [ ! -e seen ]; do sleep 0.02; done; echo went on >&3; } | { cat; touch seen; }`,
    ),
  );
  same("a full device is the program's own trouble", shell("echo lost > /dev/full; echo $?"));
  same("the program's stdin is left where it stopped reading", {
    ...shell('read -r line; echo "got $line"; exit 0'),
    under: ["/bin/bash", "-c", 'seq 100 > numbers; { "$@"; cat; } < numbers', "bash"],
  });
  same("a writer to the program gets EPIPE once the program has closed its stdin", {
    ...shell("exec <&-; touch closed; while [ ! -e told ]; do sleep 0.02; done; echo told"),
    under: [
      "/bin/bash",
      "-c",
      `{ trap '' PIPE; while [ ! -e closed ]; do sleep 0.02; done; while echo x 2> /dev/null; do sleep 0.02; done; touch told; } | "$@"`,
      "bash",
    ],
  });
  same("output to files is appended and positioned alike", {
    ...shell("echo one; echo two >&2; (echo three); exec 1>&2; echo four"),
    under: ["/bin/bash", "-c", 'echo zero > log; "$@" >> log 2>&1; echo $? >> log', "bash"],
  });
});
