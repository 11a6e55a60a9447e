/* The limits, the priority and the CPUs of a process outside. */
#include "../attack.h"
int main(void)
{
	struct rlimit few = { 20, 20 };
	return worked(syscall(SYS_prlimit64, OUTSIDER, RLIMIT_NOFILE, &few, NULL)) & worked(setpriority(PRIO_PROCESS, (id_t)OUTSIDER, 19));
}
