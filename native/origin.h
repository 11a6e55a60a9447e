/* See origin.c. */
#ifndef HERMES_ORIGIN_H
#define HERMES_ORIGIN_H

#include <stdatomic.h>
#include <sys/types.h>

enum { ORIGINS = 128 };

/* What of a tracee is looked at: whether it sees other files than we do, or may touch others than we may. */
enum sight { SIGHT_APART = 1, SIGHT_STRANGER = 2, SIGHT_WHOLE = 3 };

/* Shared by all who serve a session: every program that is started may make its process somebody else. */
struct programs {
	atomic_uint execs;
	atomic_int unsure; /* a thread that is not the first of its process has called execve: which call is whose cannot be told */
};

struct origin {
	pid_t tid;
	int pidfd; /* 0: not tried, -1: not to be had */
	int proc;  /* its folder in /proc, likewise */
	int status; /* and the file of that name in it */
	unsigned int as_of; /* the generation in which it was looked at, 0 for never */
	int same;           /* in these respects (enum sight) it was as we are */
};

struct origins {
	struct origin held[ORIGINS];
	int home; /* where the thread that asks is at home */
	struct programs *programs;
};

/* A descriptor of ours of the folder that `dirfd` means to the tracee, or -errno. */
int origin_open(struct origins *all, pid_t tid, int dirfd);
/* The folder's name, with a NUL behind it: its length, or -errno. It starts with a slash unless we cannot reach it. */
ssize_t origin_name(struct origins *all, int folder, char *into, size_t size);
/* With what umask the tracee makes files: 0 or -errno. */
int origin_umask(struct origins *all, pid_t tid, mode_t *mask);
/* In which of these respects a tracee differs from us. Those in which it does not are looked at once for each program. */
int origin_sight(struct origins *all, pid_t tid, int wanted);
/* A thread's execve is about to happen: what is known of processes is known no longer. */
void origin_execs(struct origins *all, pid_t tid);
/* A process has become another program. */
void origin_execed(struct origins *all);
void origin_forget(struct origin *o);
void origin_close(struct origins *all);

#endif
