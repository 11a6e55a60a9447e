/* Control flow of every shape: loops, switches by table, calls through pointers, raw system calls, dead ends. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) int many(int x) {
  switch (x) {
    case 0: return puts("zero");
    case 1: return puts("one") + 10;
    case 2: return putchar('2') * 3;
    case 3: return puts("three") - 7;
    case 4: return x + puts("four");
    case 5: return puts("five") ^ 55;
    case 6: return puts("six") | 6;
    default: return -1;
  }
}

__attribute__((noinline)) int loop(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0) sum += many(i % 7);
    else sum ^= i;
  }
  return sum;
}

static int hidden(int x) { return x * 3 + 1; }
int (*volatile pointer)(int) = hidden;

__attribute__((noinline)) long raw_getpid(void) {
  long result;
  __asm__ volatile("mov $39, %%eax\n\tsyscall" : "=a"(result) : : "rcx", "r11", "memory");
  return result;
}

__attribute__((noinline)) long raw_any(long number) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
  return result;
}

__attribute__((noinline)) long raw_joined(int x) {
  long result;
  __asm__ volatile(
      "test %1, %1\n\tje 1f\n\tmov $102, %%eax\n\tjmp 2f\n1:\tmov $102, %%eax\n2:\tsyscall"
      : "=&a"(result) : "r"(x) : "rcx", "r11", "memory");
  return result;
}

__attribute__((noinline)) long raw_pushed(void) {
  long result;
  __asm__ volatile("sub $128, %%rsp\n\tpush $110\n\tpop %%rax\n\tsyscall\n\tadd $128, %%rsp" : "=a"(result) : : "rcx", "r11", "memory");
  return result;
}

__attribute__((noinline)) long through_libc(void) { return syscall(SYS_gettid); }

__attribute__((noinline, noreturn)) void ending(int code) {
  if (code > 3) abort();
  exit(code);
}

int main(int argc, char **argv) {
  (void)argv;
  long sum = loop(argc) + pointer(argc) + raw_getpid() + raw_any(SYS_getppid) + raw_any(SYS_getuid) + raw_joined(argc) +
             raw_pushed() + through_libc();
  if (argc > 20) raw_any(sum);
  ending(argc - 1);
}
