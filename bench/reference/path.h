/* Reads a path argument of a stopped program and compares it with a forbidden prefix. */
#ifndef REFERENCE_PATH_H
#define REFERENCE_PATH_H

#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { PATH_ROOM = 256, PAGE_SIZE = 4096 };
static const char FORBIDDEN[] = "/etc/secret";

/* 1: read, with its end; 0: it cannot be read, or is too long. */
static inline int read_path(pid_t pid, uint64_t address, char path[PATH_ROOM])
{
	size_t to_boundary = PAGE_SIZE - (address & (PAGE_SIZE - 1));
	size_t want = PATH_ROOM < to_boundary ? PATH_ROOM : to_boundary;
	struct iovec local = { path, want }, remote = { (void *)(uintptr_t)address, want };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return got > 0 && memchr(path, 0, (size_t)got) != NULL;
}

static inline int may_pass(const char *path)
{
	return strncmp(path, FORBIDDEN, sizeof FORBIDDEN - 1) != 0;
}

/* 1: let it pass; 0: refuse it, because of its name or because it cannot be read. */
static inline int path_passes(pid_t pid, uint64_t address)
{
	char path[PATH_ROOM];
	return read_path(pid, address, path) && may_pass(path);
}

#endif
