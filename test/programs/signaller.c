/* Signals a child of its own, and the process that its argument names, in every way; says what came of each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *whom;

static void tell(const char *way, long result)
{
	printf("%s %s %s\n", way, whom, result < 0 ? strerrorname_np(errno) : "ok");
}

static void signal_in_every_way(pid_t pid)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	info.si_pid = getpid();
	info.si_uid = getuid();
	tell("kill", kill(pid, SIGUSR1));
	tell("kill-group", kill(-getpgid(pid), SIGUSR1));
	tell("tkill", syscall(SYS_tkill, pid, SIGUSR1));
	tell("tgkill", syscall(SYS_tgkill, pid, pid, SIGUSR1));
	tell("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &info));
	tell("rt_tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGUSR1, &info));
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	tell("pidfd_send_signal", syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 0));
	tell("pidfd-group", syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 4));
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		exit(1);
	tell("F_SETOWN", fcntl(ends[0], F_SETOWN, pid));
	tell("ask", kill(pid, 0));
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	signal(SIGUSR1, SIG_IGN);
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	while (getpgid(child) != child) /* until it has a group of its own */
		usleep(1000);
	whom = "child";
	signal_in_every_way(child);
	whom = "outsider";
	if (atoi(argv[1]) > 0)
		signal_in_every_way(atoi(argv[1]));
	whom = "group";
	tell("kill", kill(0, SIGUSR1));
	whom = "itself";
	tell("raise", raise(SIGUSR1));
	whom = "both";
	tell("mmap", mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tell("mprotect", mprotect(data, 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
	tell("execute", mprotect(data, 4096, PROT_READ | PROT_EXEC));
	whom = "cloexec";
	tell("stream", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	tell("datagram", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	kill(child, SIGKILL);
	return 0;
}
