/*
 * What is taken from a tracee: its descriptors, and data that is on its way, which we hold until a socket has taken it.
 * A program with very many threads could have us hold more memory than it may have itself: all copies have one budget.
 */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUDGET = 32 * 1024 * 1024, THREAD_PIDFD = O_EXCL };
static atomic_size_t in_flight;

int64_t act_data_take(const struct act *act, const struct iovec *pieces, size_t count, size_t from, size_t length,
		      struct iovec *copy)
{
	size_t done = 0;
	if (atomic_fetch_add(&in_flight, length) + length > BUDGET) {
		atomic_fetch_sub(&in_flight, length);
		return -ENOBUFS;
	}
	copy->iov_len = length;
	copy->iov_base = malloc(length + 1);
	if (copy->iov_base == NULL) {
		atomic_fetch_sub(&in_flight, length);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count && done < length; i++) {
		size_t here = pieces[i].iov_len;
		if (from >= here) {
			from -= here;
			continue;
		}
		size_t size = here - from < length - done ? here - from : length - done;
		if (act_take(act, (uint64_t)(uintptr_t)pieces[i].iov_base + from, (char *)copy->iov_base + done, size) < 0) {
			act_data_free(copy);
			return -EFAULT;
		}
		done += size;
		from = 0;
	}
	return 0;
}

void act_data_free(struct iovec *copy)
{
	if (copy->iov_base == NULL)
		return;
	atomic_fetch_sub(&in_flight, copy->iov_len);
	free(copy->iov_base);
	copy->iov_base = NULL;
}

/* A copy of a tracee's descriptor, or -errno. */
int descriptor_of(pid_t tid, int fd)
{
	struct identity identity;
	identity_pause();
	int pidfd = (int)syscall(SYS_pidfd_open, tid, THREAD_PIDFD); /* Linux 6.9 */
	if (pidfd < 0 && identity_read(tid, &identity) == 0)
		pidfd = (int)syscall(SYS_pidfd_open, identity.process, 0);
	int copy = pidfd < 0 ? -errno : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (pidfd >= 0 && copy < 0)
		copy = -errno;
	if (pidfd >= 0)
		close(pidfd);
	int failed = identity_resume();
	if (failed && copy >= 0)
		close(copy);
	return failed ? failed : copy;
}

/* Another thread may have given the number to another socket since it was looked at. */
int act_socket_is_other(const struct act *act, int fd)
{
	int type = 0;
	socklen_t size = sizeof type;
	return act->no_stream && (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type == SOCK_STREAM);
}
