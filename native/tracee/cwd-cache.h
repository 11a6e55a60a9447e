/*
 * The cwd/umask cache: per tracee, open descriptors of the places in /proc where its working directory and umask are read,
 * and whether it has the same view and rights as this process. Each thread that serves a session has a cache of its own.
 */
#ifndef HERMES_CWD_CACHE_H
#define HERMES_CWD_CACHE_H

#include "../protocol/verdict-cache.h"

#include <sys/types.h>

enum { CWD_CACHE_SIZE = 128 };

/* How a tracee may differ from this process: it sees other files, or has other rights. */
enum difference { DIFFERENT_VIEW = 1, DIFFERENT_RIGHTS = 2, DIFFERENT_ANY = 3 };

struct cwd_entry {
	pid_t tid;
	int pidfd;  /* 0: not tried, -1: failed */
	int proc;   /* its folder in /proc, likewise */
	int status; /* /proc/TID/status, likewise */
	unsigned int as_of; /* the exec count when `same` was found out, 0 for never */
	int same;           /* enum difference: where it was found not to differ */
};

struct cwd_cache {
	struct cwd_entry entries[CWD_CACHE_SIZE];
	int home; /* the working directory of the thread that owns the cache, 0: not opened yet */
	struct exec_counter *exec_counter;
};

/* A descriptor of the folder that `dirfd` means to the tracee, or -errno. */
int cwd_cache_open_dir(struct cwd_cache *cache, pid_t tid, int dirfd);
/* The folder's name with its NUL: its length, or -errno. It starts with a slash unless we cannot reach the folder. */
ssize_t cwd_cache_name_dir(struct cwd_cache *cache, int folder, char *into, size_t size);
/* The tracee's umask: 0 or -errno. */
int cwd_cache_umask(struct cwd_cache *cache, pid_t tid, mode_t *mask);
/* Where the tracee differs, of the kinds that are wanted. "Does not differ" is cached until the next execve. */
int cwd_cache_differences(struct cwd_cache *cache, pid_t tid, int wanted);
/* A thread's execve is about to happen: invalidates what is cached of every tracee. */
void cwd_cache_before_exec(struct cwd_cache *cache, pid_t tid);
/* A process has executed another program. */
void cwd_cache_after_exec(struct cwd_cache *cache);
void cwd_cache_close(struct cwd_cache *cache);

#endif
