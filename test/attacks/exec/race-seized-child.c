/* A child of a seized program is traced without anybody having seized it, and without a stop at its execs. */
#include "../seized.h"
int main(void) { return race_seized(PTRACE_O_TRACEFORK, 1); }
