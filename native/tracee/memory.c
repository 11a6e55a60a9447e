/* See memory.h. */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, FIRST_GUESS = 256 };

/* ------------------------------------------------------------------ the log of reads, for tests */

static int log_file = -1;

static void open_log(void)
{
	const char *name = getenv("HERMES_READS");
	if (name != NULL && name[0] == '/')
		log_file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int is_logged(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_log);
	return log_file >= 0;
}

static void log_line(char what, pid_t tid, uint64_t first, uint64_t second)
{
	char line[96];
	int length = snprintf(line, sizeof line, "%c %d %llu %llu\n", what, (int)tid, (unsigned long long)first,
			      (unsigned long long)second);
	if (write(log_file, line, (size_t)length) != length)
		abort(); /* a test must not rely on an incomplete log */
}

void memory_log_stop(const struct event *event)
{
	if (is_logged())
		log_line('S', event->tid, (uint32_t)event->nr, event->kind);
}

/* Logs the bytes that were used. Bytes copied beyond the end of a string were dropped. */
static ssize_t used(pid_t tid, uint64_t address, ssize_t length)
{
	if (length > 0 && is_logged())
		log_line('R', tid, address, (uint64_t)length);
	return length;
}

/* ------------------------------------------------------------------ copies */

static ssize_t copy(pid_t tid, uint64_t address, void *into, size_t length)
{
	size_t done = 0;
	while (done < length) {
		struct iovec local = { (char *)into + done, length - done };
		struct iovec remote = { (void *)(uintptr_t)(address + done), length - done };
		ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		if (got <= 0) {
			/* A copy that meets an unmapped page may fail as a whole: read up to the end of the page. */
			size_t to_boundary = PAGE - ((address + done) & (PAGE - 1));
			if (got < 0 && errno == EFAULT && to_boundary < length - done) {
				remote.iov_len = local.iov_len = to_boundary;
				got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
			}
			if (got <= 0)
				return done > 0 ? (ssize_t)done : -(got < 0 ? errno : EFAULT);
		}
		done += (size_t)got;
	}
	return (ssize_t)done;
}

ssize_t memory_read(pid_t tid, uint64_t address, void *into, size_t length)
{
	return used(tid, address, copy(tid, address, into, length));
}

static ssize_t copy_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated)
{
	size_t done = 0, guess = FIRST_GUESS;
	*truncated = 0;
	while (done < size) {
		size_t to_boundary = PAGE - ((address + done) & (PAGE - 1));
		size_t want = guess < to_boundary ? guess : to_boundary;
		if (want > size - done)
			want = size - done;
		struct iovec local = { into + done, want };
		struct iovec remote = { (void *)(uintptr_t)(address + done), want };
		ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		if (got <= 0)
			return -(got < 0 ? errno : EFAULT);
		char *end = memchr(into + done, 0, (size_t)got);
		if (end != NULL)
			return end - into;
		done += (size_t)got;
		guess = PAGE;
	}
	*truncated = 1;
	return (ssize_t)done;
}

ssize_t memory_read_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated)
{
	ssize_t got = copy_string(tid, address, into, size, truncated);
	if (got >= 0)
		used(tid, address, got + !*truncated);
	return got;
}

ssize_t memory_peek(pid_t tid, uint64_t address, void *into, size_t length)
{
	return copy(tid, address, into, length);
}

ssize_t memory_peek_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated)
{
	return copy_string(tid, address, into, size, truncated);
}

int memory_write(pid_t tid, uint64_t address, const void *from, size_t length)
{
	struct iovec local = { (void *)(uintptr_t)from, length };
	struct iovec remote = { (void *)(uintptr_t)address, length };
	if (length == 0)
		return 0;
	ssize_t put = process_vm_writev(tid, &local, 1, &remote, 1, 0);
	if (put < 0)
		return -errno;
	return (size_t)put == length ? 0 : -EFAULT;
}
