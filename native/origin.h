/* See origin.c. */
#ifndef HERMES_ORIGIN_H
#define HERMES_ORIGIN_H

#include <sys/types.h>

enum { ORIGINS = 128 };

struct origin {
	pid_t tid;
	int pidfd; /* 0: not tried, -1: not to be had */
	int proc;  /* its folder in /proc, likewise */
	int status; /* and the file of that name in it */
};

struct origins {
	struct origin held[ORIGINS];
	int home; /* where the thread that asks is at home */
};

/* A descriptor of ours of the folder that `dirfd` means to the tracee, or -errno. */
int origin_open(struct origins *all, pid_t tid, int dirfd);
/* The folder's name, with a NUL behind it: its length, or -errno. It starts with a slash unless we cannot reach it. */
ssize_t origin_name(struct origins *all, int folder, char *into, size_t size);
/* With what umask the tracee makes files: 0 or -errno. */
int origin_umask(struct origins *all, pid_t tid, mode_t *mask);
void origin_forget(struct origin *o);
void origin_close(struct origins *all);

#endif
