import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Argument, errnoNumber, SYSCALLS, type Syscall } from "../../src/abi/index.js";

/**
 * Asks the running kernel. Every path argument in turn is a dangling symlink: a call that follows it says
 * ENOENT, a call that does not says anything else. The other paths exist.
 */
interface Trial {
  readonly row: Syscall;
  readonly index: number;
  /** Flags to set: argument index and mask. */
  readonly set?: readonly [index: number, mask: number];
  readonly follows: boolean;
}

/**
 * creat makes the link's target and has a test of its own. mount's source is any word for most file systems and
 * openat2's flags are in memory: these two are not tried.
 */
const LEFT_OUT = new Set(["creat(pathname)", "mount(dev_name)", "openat2(filename)"]);
const PRIVILEGED = new Set([
  "acct",
  "chroot",
  "fspick",
  "mount",
  "mount_setattr",
  "move_mount",
  "open_tree_attr",
  "pivot_root",
  "quotactl",
  "swapoff",
  "swapon",
  "umount2",
  "fanotify_mark",
]);

/** Values without which the kernel refuses before it looks at the path, as C. */
const NEEDED: Record<string, string> = {
  "inotify_add_watch(fd)": "inotify_init()",
  "inotify_add_watch(mask)": "1",
  "fanotify_mark(fanotify_fd)": "fanotify_init(0, 0)",
  "fanotify_mark(flags)": "1",
  "fanotify_mark(mask)": "1",
  "mount(type)": '"tmpfs"',
  "mount_setattr(uattr)": "readOnly", // an empty change is done before the path is read
  "utime(times)": "0",
  "utimes(utimes)": "0",
  "futimesat(utimes)": "0",
  "utimensat(utimes)": "0",
  "fchmodat2(mode)": "0644",
};
const STRUCT_SIZES: Record<string, number> = { mount_attr: 32, xattr_args: 16, file_attr: 24 };

function trials(): Trial[] {
  return SYSCALLS.flatMap((row) =>
    row.args.flatMap((arg, index): Trial[] => {
      if (arg.kind !== "path" || LEFT_OUT.has(`${row.name}(${arg.name})`)) return [];
      const [rule, at, mask] = arg.follow!.split(":");
      const plain = { row, index, follows: rule === "always" || rule === "unless" };
      if (at === undefined) return [plain];
      const list: Trial[] = [plain, { row, index, set: [Number(at), Number(mask)], follows: rule === "if" }];
      const [allAt, allMask] = arg.noFollowAll?.split(":") ?? [];
      if (allAt !== undefined)
        list.push({ row, index, set: [Number(allAt), Number(allMask)], follows: false });
      return list;
    }),
  );
}

function value(trial: Trial, arg: Argument, index: number): string {
  const { row, set } = trial;
  const needed = NEEDED[`${row.name}(${arg.name})`];
  if (index === trial.index) return '"link"';
  if (arg.kind === "flags") return `${needed ?? 0} | ${set?.[0] === index ? set[1] : 0}`;
  if (needed) return needed;
  const target = row.args[index - 1]?.struct ?? "";
  if (arg.kind === "size") return String(STRUCT_SIZES[target] ?? 64);
  const values: Partial<Record<Argument["kind"], string>> = {
    dirfd: "-100",
    path: arg.creates ? '"fresh"' : '"dir"',
    string: '"user.test"',
    mode: "0644",
    uid: "-1",
    gid: "-1",
  };
  return values[arg.kind] ?? (["struct", "buffer", "argv", "address"].includes(arg.kind) ? "page" : "0");
}

const label = ({ row, index, set }: Trial) => `${row.name}.${row.args[index]!.name}.${set ? set[1] : 0}`;

function program(list: readonly Trial[]): string {
  const calls = list.map((trial) => {
    const args = trial.row.args.map((arg, index) => `(long)(${value(trial, arg, index)})`);
    return `  attempt("${label(trial)}", ${[trial.row.nr, ...args, ...Array(6 - args.length).fill("0L")].join(", ")});`;
  });
  return `#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static char page[65536];
static long readOnly[4] = { 1 };
static void attempt(const char *name, long nr, long a, long b, long c, long d, long e, long f) {
  unlink("link"), unlink("fresh");
  if (symlink("missing", "link") != 0) return;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    unshare(CLONE_NEWNS);
    long result = syscall(nr, a, b, c, d, e, f);
    printf("%s %d\\n", name, result < 0 ? errno : 0);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, 0, 0);
}
int main(void) {
${calls.join("\n")}
  return 0;
}
`;
}

describe("the running kernel", () => {
  const root = process.getuid?.() === 0;
  const list = trials().filter(({ row }) => root || !PRIVILEGED.has(row.name));
  const answers = new Map<string, number>();
  const dir = mkdtempSync(join(tmpdir(), "abi-follow-"));

  beforeAll(() => {
    mkdirSync(join(dir, "dir"));
    writeFileSync(join(dir, "trials.c"), program(list));
    execFileSync("gcc", ["-w", "-o", join(dir, "trials"), join(dir, "trials.c")], { stdio: "inherit" });
    const output = execFileSync(join(dir, "trials"), { cwd: dir, encoding: "utf8" });
    for (const line of output.trimEnd().split("\n"))
      answers.set(line.split(" ")[0]!, Number(line.split(" ")[1]));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const ENOENT = errnoNumber("ENOENT")!;
  const ENOSYS = errnoNumber("ENOSYS")!;
  it.each(list.map((trial) => [trial.follows ? "follows" : "does not follow", label(trial), trial] as const))(
    "%s a symlink in %s",
    (_, name, trial) => {
      const errno = answers.get(name);
      expect(errno).toBeDefined();
      if (errno === ENOSYS) return; // older than the call, or built without it
      if (trial.follows) expect(errno).toBe(ENOENT);
      else expect(errno).not.toBe(ENOENT);
    },
  );

  it("makes the target of a dangling symlink given to creat", () => {
    const source = `#include <sys/syscall.h>
#include <unistd.h>
int main(void) { return symlink("made", "tomake") != 0 || syscall(SYS_creat, "tomake", 0644) < 0; }
`;
    writeFileSync(join(dir, "creat.c"), source);
    execFileSync("gcc", ["-w", "-D_GNU_SOURCE", "-o", join(dir, "creat"), join(dir, "creat.c")]);
    execFileSync(join(dir, "creat"), { cwd: dir });
    expect(lstatSync(join(dir, "made")).isFile()).toBe(true);
  });
});
