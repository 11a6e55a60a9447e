/* See start-process.h. */
#define _GNU_SOURCE
#include "start-process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * vfork, because copying Node's page tables costs a millisecond. All signals are blocked in the child, so that no handler
 * of ours can run on the memory that it shares with us. Node marks every descriptor close-on-exec: undo that for those
 * that the new process inherits.
 */
pid_t start_process(const char *path, char *const argv[], const int *inherited, size_t count)
{
	char *envp[] = { NULL };
	sigset_t every, before;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	volatile int failed = 0;
	pid_t pid = vfork();
	if (pid == 0) {
		for (size_t i = 0; i < count; i++)
			fcntl(inherited[i], F_SETFD, 0);
		execve(path, argv, envp);
		failed = errno;
		_exit(125);
	}
	int forked = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid > 0 && failed)
		waitpid(pid, NULL, 0);
	return pid < 0 ? -forked : failed ? -failed : pid;
}

int share_memory(const char *name, size_t size, void **map)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	*map = MAP_FAILED;
	if (ftruncate(fd, (off_t)size) == 0)
		*map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*map != MAP_FAILED)
		return fd;
	int failed = -errno;
	close(fd);
	return failed;
}
