/*
 * A tracer skips a call of a filtered tracee: usage `skip FILTER_FILE`.
 *
 * At the entry of the tracee's getppid() the tracer sets the number to -1 and the result to 77. Prints what
 * became of it: "returned 77", or "killed by 31".
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHOSEN 77

static int trace_skipping(pid_t tracee) {
  int status;
  if (waitpid(tracee, &status, 0) != tracee || !WIFSTOPPED(status)) return 1;
  if (ptrace(PTRACE_SETOPTIONS, tracee, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0) return 1;
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, tracee, 0, 0) != 0) return 1;
    if (waitpid(tracee, &status, 0) != tracee) return 1;
    if (WIFEXITED(status)) return printf("returned %d\n", WEXITSTATUS(status)) < 0;
    if (WIFSIGNALED(status)) return printf("killed by %d\n", WTERMSIG(status)) < 0;
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, tracee, 0, &regs) != 0) return 1;
    if (regs.orig_rax != SYS_getppid) continue;
    regs.orig_rax = (unsigned long long)-1;
    regs.rax = CHOSEN;
    if (ptrace(PTRACE_SETREGS, tracee, 0, &regs) != 0) return 1;
  }
}

int main(int argc, char **argv) {
  static struct sock_filter filter[4096];
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  struct sock_fprog program = {.len = (unsigned short)fread(filter, sizeof *filter, 4096, file), .filter = filter};
  fclose(file);

  pid_t tracee = fork();
  if (tracee < 0) return 2;
  if (tracee > 0) return trace_skipping(tracee);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0 || raise(SIGSTOP) != 0) _exit(3);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(3);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(3);
  _exit((int)syscall(SYS_getppid));
}
