/* Who a tracee is: what the kernel asks about when it decides whether a file may be touched. */
#ifndef HERMES_IDENTITY_H
#define HERMES_IDENTITY_H

#include <stdint.h>
#include <sys/types.h>

enum { MAX_GROUPS = 256 };

struct identity {
	uid_t real_uid, effective_uid, saved_uid, uid; /* uid and gid are those that file access goes by */
	gid_t real_gid, effective_gid, saved_gid, gid;
	gid_t groups[MAX_GROUPS];
	int group_count;
	uint64_t capabilities; /* effective ones */
	mode_t umask;
	pid_t process;     /* the thread group, in our numbers */
	pid_t inner, inner_thread; /* process and thread in its own pid namespace */
	int threads;
	uint64_t signals_pending;  /* that would interrupt it: neither blocked nor ignored; for this thread */
	uint64_t signals_shared;   /* for any of its threads */
};

/* Reads /proc/TID/status; 0 or -errno. */
int identity_read(pid_t tid, struct identity *identity);
/* The umask alone, which every call that makes a file needs, in the text of that file (origin.c). */
int identity_umask_in(const char *status, mode_t *mask);

/* Whether a tracee has the same namespace as we have, of a kind that /proc/PID/ns knows. */
int identity_shares(pid_t tid, const char *which);
/* Whether a tracee differs from us in what it may touch. */
int identity_differs(pid_t tid);

/*
 * This thread touches files as that tracee would, until identity_drop(). 0, or -errno when we cannot be it: then
 * nothing may be done on its behalf. `real`: as access(2) checks.
 */
int identity_assume(pid_t tid, const struct identity *identity, int real);
void identity_drop(void);
/* Others see it too: whoever is connected to, sent to or signalled is told the ids, and judges by them. Then identity_hide(). */
int identity_show(void);
int identity_hide(void);
/* Ourselves again for a moment, to look at what only we may. */
void identity_pause(void);
int identity_resume(void);

#endif
