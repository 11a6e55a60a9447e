/* Symbols of every kind: exported and local functions, data, an IFUNC, thread storage. */
#include <stdio.h>
#include <string.h>

int shared_number = 42;
static __thread int own_number;

static int resolved(int x) { return x + 1; }
static int (*choose(void))(int) { return resolved; }
int chosen(int x) __attribute__((ifunc("choose")));

__attribute__((noinline)) static int inner(const char *text) { return (int)strlen(text) + own_number; }

__attribute__((noinline)) int outer(const char *text) { return inner(text) * 2; }

int main(int argc, char **argv) {
  own_number = argc;
  printf("%d %d %d\n", outer(argv[0]), chosen(argc), shared_number);
  return 0;
}
