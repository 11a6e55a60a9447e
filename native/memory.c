/* Bounded copies from and to a tracee's memory. A failed read is an error, never an empty value. */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, FIRST_GUESS = 256 };

/* ------------------------------------------------------------------ what was read, for tests */

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
		abort(); /* a test must not count what is not there */
}

void memory_stopped(const struct event *event)
{
	if (is_logged())
		log_line('S', event->tid, (uint32_t)event->nr, event->kind);
}

/* The bytes that were used: what was copied beyond the end of a text was thrown away. */
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
			/* A copy that meets an unmapped page may give nothing at all: go up to the page's end. */
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

/* Copies up to `length` bytes; stops at the first unreadable page. Returns how many, or -errno when none. */
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

/* Copies a NUL-terminated string without its NUL. Never reads past the page that holds the NUL. */
ssize_t memory_read_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated)
{
	ssize_t got = copy_string(tid, address, into, size, truncated);
	if (got >= 0)
		used(tid, address, got + !*truncated);
	return got;
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

/* The WRITE_MEMORY part of an answer; `bytes` is where its offsets count from. */
int memory_apply_writes(pid_t tid, const struct answer *answer, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++) {
		const struct write *w = &answer->writes[i];
		if (w->kind != WRITE_MEMORY)
			continue;
		if (w->offset > REPLY_SIZE || w->length > REPLY_SIZE - w->offset)
			return -EINVAL;
		int failed = memory_write(tid, w->address, bytes + w->offset, w->length);
		if (failed)
			return failed;
	}
	return 0;
}

/* A text that an earlier argument holds already, wholly or as its end: link(2) from and to one name. Copied, or -1. */
static ssize_t copy_fetched(const struct session *s, int i, uint8_t *into, size_t maximum)
{
	const struct event *event = s->event;
	for (int k = 0; k < i; k++) {
		const struct slot *slot = &event->slots[k];
		uint64_t from = event->args[i] - event->args[k];
		int is_text = event->fetched >> k & 1 && s->fetch_plan.steps[event->nr][k].kind == FETCH_STRING;
		if (!is_text || slot->error || slot->truncated || event->args[i] < event->args[k] || from > slot->length)
			continue;
		size_t length = slot->length - (size_t)from;
		if (length >= maximum)
			continue;
		memcpy(into, s->buffer + slot->offset + from, length);
		return (ssize_t)length;
	}
	return -1;
}

/* Fills the event's slots as the plan says for its syscall. */
void memory_fetch(struct session *s)
{
	struct event *event = s->event;
	uint32_t used = 0;
	event->fetched = 0;
	if (event->nr < 0 || event->nr >= MAX_SYSCALL)
		return;
	for (int i = 0; i < ARGUMENTS; i++) {
		const struct fetch_step *step = &s->fetch_plan.steps[event->nr][i];
		struct slot *slot = &event->slots[i];
		uint8_t *into = s->buffer + FETCH_OFFSET + used;
		int truncated = 0;
		ssize_t got;
		if (step->kind == FETCH_NOTHING)
			continue;
		if (event->args[i] == 0) {
			got = -EFAULT;
		} else if (step->kind == FETCH_STRING) {
			got = copy_fetched(s, i, into, step->maximum);
			if (got < 0)
				got = memory_read_string(event->tid, event->args[i], (char *)into, step->maximum, &truncated);
		} else {
			uint64_t length = step->length < ARGUMENTS ? event->args[step->length] : step->maximum;
			truncated = length > step->maximum;
			got = length == 0 ? 0 : memory_read(event->tid, event->args[i], into, truncated ? step->maximum : length);
		}
		slot->offset = FETCH_OFFSET + used;
		slot->length = got < 0 ? 0 : (uint32_t)got;
		slot->error = got < 0 ? (int32_t)-got : 0;
		slot->truncated = (uint32_t)truncated;
		event->fetched |= 1u << i;
		used += slot->length;
	}
}
