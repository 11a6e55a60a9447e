/*
 * Copies of data that a tracee sends, held until a socket has taken them. All copies share one budget: otherwise a program
 * with very many threads could make us hold more memory than it may use itself.
 */
#define _GNU_SOURCE
#include "on-behalf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUDGET = 32 * 1024 * 1024 };
static atomic_size_t in_flight; /* of the whole process, whose memory it limits */

int64_t on_behalf_copy_data(const struct on_behalf_call *call, const struct iovec *pieces, size_t count, size_t from,
			    size_t length, struct iovec *copy)
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
		uint64_t address = (uint64_t)(uintptr_t)pieces[i].iov_base + from;
		if (on_behalf_read(call, address, (char *)copy->iov_base + done, size) < 0) {
			on_behalf_free_data(copy);
			return -EFAULT;
		}
		done += size;
		from = 0;
	}
	return 0;
}

void on_behalf_free_data(struct iovec *copy)
{
	if (copy->iov_base == NULL)
		return;
	atomic_fetch_sub(&in_flight, copy->iov_len);
	free(copy->iov_base);
	copy->iov_base = NULL;
}
