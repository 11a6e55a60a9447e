/* The program is seized by its parent, which wants to see its execs. */
#include "../seized.h"
int main(void) { return race_seized(PTRACE_O_TRACEEXEC, 0); }
