import { describe, expect, test } from "vitest";
import { type ArgumentKind, SYSCALLS } from "../../src/abi/index.js";
import { CALL_EFFECTS, callEffects } from "../../src/policy/call-effects.js";

/** Arguments by which a call reaches something that rules are about. */
const REACHING: ReadonlySet<ArgumentKind> = new Set<ArgumentKind>([
  ...(["path", "fd", "dirfd", "fds", "pid"] as const),
  ...(["sockaddr", "msghdr", "mmsghdr"] as const),
]);

const OPEN =
  "the descriptor was decided on when it was opened, and this tells or changes nothing of the file";
const SAME = "it gives another number to what is open";
const NEW = "it makes something new, which no other process has";
const WAITS = "it waits, or asks whether there is something to read";
const RELATIVE = "it concerns the caller's own children, groups and sessions";
const SEEN = "it is refused where a policy subscribes to what it could do";
const ITSELF = "it takes rights from the caller itself";

/** Calls without a row in the table of effects, and why none is needed. */
const WITHOUT: Readonly<Record<string, string>> = {
  close: SAME,
  close_range: SAME,
  dup: SAME,
  dup2: SAME,
  dup3: SAME,
  fstat: OPEN,
  fstatfs: OPEN,
  fgetxattr: OPEN,
  flistxattr: OPEN,
  lseek: OPEN,
  flock: OPEN,
  readahead: OPEN,
  fadvise64: OPEN,
  cachestat: OPEN,
  quotactl_fd: "it administers a whole file system, which takes root; rules name the call",
  pipe: NEW,
  pipe2: NEW,
  socketpair: NEW,
  shutdown: "the connection was decided on when it was made",
  getsockname: "it tells of a socket that the caller has",
  getpeername: "it tells of a socket that the caller has",
  mq_timedsend: "the queue was decided on when it was opened",
  mq_timedreceive: "the queue was decided on when it was opened",
  mq_getsetattr: "the queue was decided on when it was opened",
  mq_notify: "it has the kernel signal the caller itself",
  wait4: RELATIVE,
  waitid: RELATIVE,
  setpgid: RELATIVE,
  getpgid: "it tells what /proc tells everybody",
  getsid: "it tells what /proc tells everybody",
  sched_getparam: "it tells what /proc tells everybody",
  sched_getscheduler: "it tells what /proc tells everybody",
  sched_getattr: "it tells what /proc tells everybody",
  sched_getaffinity: "it tells what /proc tells everybody",
  sched_rr_get_interval: "it tells what /proc tells everybody",
  epoll_wait: WAITS,
  epoll_pwait: WAITS,
  epoll_pwait2: WAITS,
  epoll_ctl: WAITS,
  inotify_rm_watch: WAITS,
  signalfd: "it receives signals that are the caller's own",
  signalfd4: "it receives signals that are the caller's own",
  timerfd_settime: "the timer is the caller's own",
  timerfd_gettime: "the timer is the caller's own",
  io_uring_enter: SEEN,
  io_uring_register: SEEN,
  landlock_add_rule: ITSELF,
  landlock_restrict_self: ITSELF,
};

const reaches = SYSCALLS.filter(({ args }) => args.some(({ kind }) => REACHING.has(kind)));

describe("the table of effects", () => {
  test("has a row for every call with a path, a descriptor, an address or a process, or a reason why not", () => {
    const missing = reaches.filter(
      ({ nr, name }) => callEffects(nr).length === 0 && !Object.hasOwn(WITHOUT, name),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test("gives no reason for calls that have rows, or are not there", () => {
    const stale = Object.keys(WITHOUT).filter((name) => {
      const call = reaches.find((one) => one.name === name);
      return !call || callEffects(call.nr).length > 0;
    });
    expect(stale).toEqual([]);
  });

  test("judges every path of a call", () => {
    const unjudged = reaches.flatMap(({ nr, name, args }) =>
      args
        .filter(({ kind }) => kind === "path")
        .filter(
          (argument) =>
            !callEffects(nr).some(({ on }) => "argument" in on && on.argument === argument.name) &&
            !UNJUDGED.has(`${name}.${argument.name}`),
        )
        .map((argument) => `${name}.${argument.name}`),
    );
    expect(unjudged).toEqual([]);
  });

  test("names only arguments that the calls have", () => {
    for (const { call, on } of CALL_EFFECTS)
      if ("argument" in on)
        expect(
          call.args.map(({ name }) => name),
          call.name,
        ).toContain(on.argument);
  });

  test("changes of mounts are `mount`, whichever call makes them", () => {
    const calls =
      "mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr";
    for (const name of calls.split(" "))
      expect(
        CALL_EFFECTS.some(({ call, does }) => call.name === name && does.includes("mount")),
        name,
      ).toBe(true);
  });
});

/** What a symbolic link holds is text, until a call follows it. */
const UNJUDGED: ReadonlySet<string> = new Set(["symlink.old", "symlinkat.oldname"]);
