/* Bounded copies from and to a tracee's memory. A failed read is an error, never an empty value. */
#ifndef HERMES_MEMORY_H
#define HERMES_MEMORY_H

#include "../protocol/layout.h"

#include <sys/types.h>

/* Copies up to `length` bytes; stops at the first unreadable page. Returns how many, or -errno when none. */
ssize_t memory_read(pid_t tid, uint64_t address, void *into, size_t length);
/* Copies a NUL-terminated string without its NUL, and never reads past the page that holds the NUL. */
ssize_t memory_read_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated);
/* The same for a guess: nothing is decided on what they read. */
ssize_t memory_peek(pid_t tid, uint64_t address, void *into, size_t length);
ssize_t memory_peek_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated);
/* 0 or -errno. */
int memory_write(pid_t tid, uint64_t address, const void *from, size_t length);
/* Marks the beginning of a stop in the log of reads, by which tests count what each stop reads (HERMES_READS). */
void memory_log_stop(const struct event *event);

#endif
