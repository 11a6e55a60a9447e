/* All that wait can tell of a child: exits, deaths, stops, continuations; and SIGCHLD with what it carries. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, pid_t child, int options)
{
	siginfo_t info = { 0 };
	if (waitid(P_PID, (id_t)child, &info, options) < 0)
		perror(what);
	printf("%s: code %d status %d same %d\n", what, info.si_code, info.si_status, info.si_pid == child);
}

static void expect_chld(const sigset_t *chld)
{
	siginfo_t info;
	struct timespec patience = { 10, 0 };
	if (sigtimedwait(chld, &info, &patience) == SIGCHLD)
		printf("SIGCHLD code %d status %d\n", info.si_code, info.si_status);
	else
		perror("sigtimedwait");
}

int main(void)
{
	sigset_t chld;
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	pid_t child = fork();
	if (child == 0)
		for (;;)
			pause();
	for (int i = 0; i < 3; i++) {
		kill(child, SIGSTOP);
		expect_chld(&chld);
		tell("stopped", child, WSTOPPED);
		kill(child, SIGCONT);
		expect_chld(&chld);
		tell("continued", child, WCONTINUED);
	}
	kill(child, SIGSTOP);
	expect_chld(&chld);
	tell("stopped, left there", child, WSTOPPED | WNOWAIT);
	tell("stopped, taken", child, WSTOPPED);
	kill(child, SIGKILL);
	expect_chld(&chld);
	tell("killed while stopped", child, WEXITED);
	const int deaths[] = { SIGTERM, SIGSEGV, SIGABRT, SIGALRM, SIGUSR1, SIGPIPE, SIGRTMIN };
	for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
		int status;
		child = fork();
		if (child == 0) {
			raise(deaths[i]);
			_exit(0);
		}
		expect_chld(&chld);
		if (wait4(child, &status, 0, NULL) != child)
			perror("wait4");
		printf("status %#x\n", status);
	}
	printf("nobody left: %d\n", (int)wait(NULL));
	return 0;
}
