/* All that a program can find out about the state it was started in, as far as two runs of it should agree. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static FILE *out;

static void print_bytes(const char *name, const char *text)
{
	fprintf(out, "%s ", name);
	for (; *text; text++)
		fprintf(out, *text < ' ' || *text > '~' ? "\\x%02x" : "%c", (unsigned char)*text);
	fputc('\n', out);
}

static void descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFL);
		struct stat info;
		if (flags < 0 || fd == fileno(out))
			continue;
		fstat(fd, &info);
		fprintf(out, "fd %d flags %#o cloexec %d type %o tty %d at %ld\n", fd, flags, fcntl(fd, F_GETFD),
			info.st_mode & S_IFMT, isatty(fd), (long)lseek(fd, 0, SEEK_CUR));
	}
}

static void signals(void)
{
	sigset_t mask, pending;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;
		if (sigaction(i, NULL, &action) < 0)
			continue;
		if (action.sa_handler != SIG_DFL || action.sa_flags || sigismember(&mask, i) || sigismember(&pending, i))
			fprintf(out, "signal %d %s flags %x blocked %d pending %d\n", i,
				action.sa_handler == SIG_IGN ? "ignored" : "handled", action.sa_flags, sigismember(&mask, i),
				sigismember(&pending, i));
	}
	stack_t stack;
	sigaltstack(NULL, &stack);
	fprintf(out, "alternate stack %d\n", stack.ss_flags);
}

static void limits(void)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit limit;
		getrlimit(i, &limit);
		fprintf(out, "limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
	}
}

static void attributes(void)
{
	cpu_set_t cpus;
	struct sched_param param;
	int value = 0;
	mode_t mask = umask(0);
	sched_getaffinity(0, sizeof cpus, &cpus);
	sched_getparam(0, &param);
	fprintf(out, "umask %o nice %d cpus %d policy %d priority %d ioprio %ld\n", mask, getpriority(PRIO_PROCESS, 0),
		CPU_COUNT(&cpus), sched_getscheduler(0), param.sched_priority, syscall(SYS_ioprio_get, 1, 0));
	umask(mask);
	fprintf(out, "timer slack %d dumpable %d keepcaps %d securebits %d thp %d tsc %d\n", prctl(PR_GET_TIMERSLACK),
		prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS), prctl(PR_GET_SECUREBITS), prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0),
		prctl(PR_GET_TSC, &value));
	prctl(PR_GET_PDEATHSIG, &value);
	fprintf(out, "death signal %d", value);
	prctl(PR_GET_CHILD_SUBREAPER, &value);
	fprintf(out, " subreaper %d personality %x secure %lu\n", value, (unsigned int)personality(0xffffffff), getauxval(AT_SECURE));
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		struct itimerval timer;
		getitimer(which, &timer);
		fprintf(out, "timer %d %ld\n", which, (long)(timer.it_value.tv_sec + timer.it_value.tv_usec));
	}
	fprintf(out, "ids %d %d %d %d group leader's session %d has a terminal %d\n", getuid(), geteuid(), getgid(), getegid(),
		getsid(0) == getsid(getpgrp()), open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) >= 0);
}

static void file(const char *path, const char *wanted[])
{
	char line[4096];
	FILE *from = fopen(path, "re");
	while (from != NULL && fgets(line, sizeof line, from) != NULL) {
		int fits = wanted[0] == NULL;
		for (int i = 0; wanted[i] != NULL; i++)
			fits |= strncmp(line, wanted[i], strlen(wanted[i])) == 0;
		if (fits)
			fprintf(out, "%s: %s", path, line);
	}
	if (from != NULL)
		fclose(from);
}

static void namespaces(void)
{
	static const char *names[] = { "cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "user", "uts" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[64], target[64] = "";
		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		if (readlink(path, target, sizeof target - 1) > 0)
			fprintf(out, "%s\n", target);
	}
}

int main(int argc, char **argv, char **envp)
{
	char folder[4096];
	out = fopen("state", "we"); /* stdout may be closed: that is one of the cases */
	if (out == NULL)
		return 1;
	descriptors();
	signals();
	limits();
	attributes();
	for (int i = 0; i < argc; i++)
		print_bytes("argument", argv[i]);
	for (; *envp != NULL; envp++)
		print_bytes("variable", *envp);
	print_bytes("folder", getcwd(folder, sizeof folder) ? folder : "none");
	print_bytes("called", (char *)getauxval(AT_EXECFN));
	file("/proc/self/status", (const char *[]){ "Name", "Umask", "State", "Groups", "Uid", "Gid", "CapInh", "CapPrm",
						     "CapEff", "CapBnd", "CapAmb", "SigPnd", "ShdPnd", "SigBlk", "SigIgn",
						     "SigCgt", "Threads", "CoreDumping", "THP", "Cpus_allowed", NULL });
	file("/proc/self/oom_score_adj", (const char *[]){ NULL });
	file("/proc/self/coredump_filter", (const char *[]){ NULL });
	file("/proc/self/cgroup", (const char *[]){ NULL });
	file("/proc/self/timerslack_ns", (const char *[]){ NULL });
	namespaces();
	fclose(out);
	return 0;
}
