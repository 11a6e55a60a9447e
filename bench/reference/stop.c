/*
 * The cost of one ptrace stop alone: a child that executes an int3, a parent that reads its registers and continues
 * it. Usage: stop COUNT. Prints nanoseconds per stop.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void trap(long count)
{
	for (long i = 0; i < count; i++)
		__asm__ volatile("int3");
}

int main(int argc, char **argv)
{
	long count = argc >= 2 ? atol(argv[1]) : 0;
	if (count < 10)
		return 2;
	pid_t child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		trap(count / 5);
		double from = nanoseconds();
		trap(count);
		printf("%.1f\n", (nanoseconds() - from) / (double)count);
		fflush(stdout);
		_exit(0);
	}
	int status;
	waitpid(child, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL) < 0) {
		perror("stop");
		kill(child, SIGKILL);
		return 1;
	}
	kill(child, SIGCONT);
	while (waitpid(child, &status, 0) > 0 && WIFSTOPPED(status)) {
		struct user_regs_struct registers;
		int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
		ptrace(PTRACE_GETREGS, child, 0, &registers);
		ptrace(PTRACE_CONT, child, 0, (long)(signal == SIGTRAP || signal == SIGSTOP ? 0 : signal));
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
