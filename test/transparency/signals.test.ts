import { describe } from "vitest";
import { compile, needs, same, shell, TRACE_WAYS } from "./both-ways.js";

needs("perl", "python3");

describe("signals", () => {
  const storm = compile("storm");
  same("interrupted calls return EINTR or are restarted alike", { command: [compile("restarts")] });
  same("calls do not fail in a storm of signals whose handlers restart", { command: [storm] });
  // The notify door cannot promise this: the kernel lets a signal interrupt the wait for the supervisor, and then
  // even an open returns EINTR to a handler without SA_RESTART.
  same("calls do not fail in a storm of signals whose handlers do not restart", {
    command: [storm, "no-restart"],
    ways: TRACE_WAYS,
  });
  same("faults, queued signals and timers carry the same values", { command: [compile("faults")] });
});

describe("deaths", () => {
  for (const name of [
    "HUP",
    "QUIT",
    "ILL",
    "TRAP",
    "ABRT",
    "BUS",
    "FPE",
    "KILL",
    "SEGV",
    "PIPE",
    "TERM",
    "SYS",
  ])
    same(
      `death by SIG${name} is told as 128+n`,
      shell(`ulimit -c 0; echo before; kill -${name} $$; echo after`),
    );
  same("death of a whole group by SIGKILL is told as 137", shell("sleep 100 & kill -KILL 0"));
  same("a write to a closed pipe kills with SIGPIPE", shell(`yes | head -1; echo \${PIPESTATUS[@]}`));
});

describe("bash", () => {
  same(
    "pipelines and their statuses are alike",
    shell(`seq 20000 | sort -rn | tee all | tail -3; echo \${PIPESTATUS[@]}; (exit 3) | (exit 4); echo \${PIPESTATUS[@]}
      set -o pipefail; false | true; echo $?; diff <(seq 5) <(seq 6); cat <<< here; coproc cat; echo x >&\${COPROC[1]}
      read -u \${COPROC[0]} y; echo $y; exec {COPROC[1]}>&-; wait; echo \${#y}`),
  );
  same(
    "traps run alike",
    shell(`trap 'echo exit $?' EXIT; trap 'echo usr1' USR1; trap : CHLD; trap '' USR2
      kill -USR1 $$; kill -USR2 $$; (kill -USR1 $$; exit 5); echo $?; sleep 0.05 & wait $!; echo $?
      trap 'echo term; kill $!' TERM; (sleep 0.2; kill -TERM $$) & sleep 30 & wait $!; echo $?; wait; exit 17`),
  );
  same(
    "background jobs, wait and kill are alike",
    shell(`sleep 30 & a=$!; sleep 30 & b=$!; kill $a; wait $a; echo $?; kill -TERM $b; wait $b; echo $?
      mkfifo 1 2 3; for i in 1 2 3; do (read x < $i; exit $i) & p[$i]=$!; done
      for i in 1 2 3; do echo > $i; wait \${p[$i]}; echo $?; done; wait -n; echo $?`),
  );
  same(
    "job control with stopped jobs is alike",
    shell(`set -m; sleep 0.5 & kill -STOP %1; until jobs | grep -q Stopped; do sleep 0.02; done; jobs | sed 's/ *$//'; kill -CONT %1; wait %1; echo $?
      (kill -STOP $BASHPID; echo continued; exit 4) & until jobs | grep -q Stopped; do sleep 0.02; done; fg %1; echo $?`),
  );
  same(
    "a signal to the whole group reaches each process once",
    shell(`trap 'echo main' USR1; (trap 'echo child >> child; exit 3' USR1; touch ready; while :; do :; done) & until [ -e ready ]; do sleep 0.02; done
      kill -USR1 0; wait $!; echo $?; wait; echo $?`),
  );
  same(
    "process groups and sessions can be made and signalled",
    shell(`perl -e '$SIG{TERM} = sub { print "parent term\\n" }; $| = 1;
      pipe R, W; if (!($p = fork)) { $SIG{TERM} = "DEFAULT"; setpgrp; syswrite W, "x"; sleep 30; exit }
      sysread R, $x, 1; print getpgrp($p) == $p ? "own" : "shared", "\\n"; print kill("TERM", -$p), "\\n";
      print waitpid($p, 0) == $p, " $?\\n"; print kill(0, -$p) ? "there" : "gone", "\\n"; print getpgrp == $$ ? "" : "not ", "leader\\n"' | grep -v leader
      setsid -w sh -c 'ps -o sid= -p $$ | tr -d " " | grep -c "^$$\\$"'`),
  );
  same(
    "a program that stops itself and is continued from within goes on",
    shell(
      "(until [ -e on ]; do sleep 0.05; kill -CONT $$; done) & kill -STOP $$; touch on; echo continued; wait; exit 3",
    ),
  );
  same("python3 signal handlers, alarms and wakeups are alike", {
    command: [
      "/usr/bin/python3",
      "-c",
      `
import signal, time, os, threading
hits = []
signal.signal(signal.SIGALRM, lambda n, f: hits.append(n))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
end = time.monotonic() + 0.4
time.sleep(0.4)
print(time.monotonic() >= end, len(hits) > 0)
signal.setitimer(signal.ITIMER_REAL, 0)
r, w = os.pipe(); os.set_blocking(w, False); signal.set_wakeup_fd(w)
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGALRM)).start()
print(os.read(r, 1))
print(signal.sigtimedwait([signal.SIGUSR1], 0.05))
pid = os.fork()
if pid == 0: os.abort()
print(os.waitpid(pid, 0)[1] & 127)
`,
    ],
  });
});
