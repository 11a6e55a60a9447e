/*
 * Installs filters and issues calls under them, to see what the kernel makes of both.
 *
 * stdin: cases of { u32 instructions, u32 calls, struct sock_filter[], struct call[] }, in host order.
 * stdout: per case { s64 wait status, s64 result per call }.
 *
 * Every case runs in a child of its own. The child reports through shared memory and ends by a trap, since the
 * filter may forbid it any call, exit included: SIGILL means that it got through all calls, SIGSYS that the
 * filter killed it, and exit status 1 that the kernel refused the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CALLS 65536
#define NOT_ISSUED INT64_MIN

enum abi { NATIVE = 0, INT80 = 1 };

struct call {
  uint32_t abi;
  uint32_t nr;
  uint64_t args[6];
};

static int64_t issue_native(const struct call *call) {
  int64_t result;
  register uint64_t r10 __asm__("r10") = call->args[3];
  register uint64_t r8 __asm__("r8") = call->args[4];
  register uint64_t r9 __asm__("r9") = call->args[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((uint64_t)call->nr), "D"(call->args[0]), "S"(call->args[1]), "d"(call->args[2]), "r"(r10),
                     "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static int64_t issue_int80(const struct call *call) {
  int64_t result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"((uint64_t)call->nr), "b"(call->args[0]), "c"(call->args[1]), "d"(call->args[2]),
                     "S"(call->args[3]), "D"(call->args[4])
                   : "r8", "r9", "r10", "r11", "memory");
  return (int32_t)result;
}

static void run_case(const struct sock_fprog *program, const struct call *calls, uint32_t count,
                     volatile int64_t *results) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(2);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) != 0) _exit(errno == EINVAL ? 1 : 2);
  for (uint32_t i = 0; i < count; i++)
    results[i] = calls[i].abi == INT80 ? issue_int80(&calls[i]) : issue_native(&calls[i]);
  __builtin_trap();
}

/* Returns 0 at the end of the input. */
static size_t read_items(void *into, size_t size, size_t count) {
  size_t got = fread(into, size, count, stdin);
  if (got != count && (got != 0 || !feof(stdin))) {
    fprintf(stderr, "truncated input\n");
    exit(1);
  }
  return got;
}

static void write_items(const void *from, size_t size, size_t count) {
  if (fwrite(from, size, count, stdout) != count) {
    perror("write");
    exit(1);
  }
}

int main(void) {
  static struct sock_filter filter[UINT16_MAX];
  static struct call calls[MAX_CALLS];
  uint32_t counts[2];
  int64_t *results = mmap(NULL, MAX_CALLS * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (results == MAP_FAILED || setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) != 0) {
    perror("setup");
    return 1;
  }
  while (read_items(counts, sizeof *counts, 2) == 2) {
    if (counts[0] > UINT16_MAX || counts[1] > MAX_CALLS) {
      fprintf(stderr, "case too large\n");
      return 1;
    }
    read_items(filter, sizeof *filter, counts[0]);
    read_items(calls, sizeof *calls, counts[1]);
    for (uint32_t i = 0; i < counts[1]; i++) results[i] = NOT_ISSUED;

    struct sock_fprog program = {.len = (unsigned short)counts[0], .filter = filter};
    pid_t child = fork();
    if (child == 0) run_case(&program, calls, counts[1], results);
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      perror("child");
      return 1;
    }
    int64_t report = status;
    write_items(&report, sizeof report, 1);
    write_items(results, sizeof *results, counts[1]);
  }
  return fflush(stdout) == 0 ? 0 : 1;
}
