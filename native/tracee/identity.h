/* A tracee's identity: the ids and capabilities by which the kernel decides on access to files. */
#ifndef HERMES_IDENTITY_H
#define HERMES_IDENTITY_H

#include <stdint.h>
#include <sys/types.h>

enum { MAX_GROUPS = 256 };

struct identity {
	uid_t real_uid, effective_uid, saved_uid, uid; /* uid and gid: the file-system ids */
	gid_t real_gid, effective_gid, saved_gid, gid;
	gid_t groups[MAX_GROUPS];
	int group_count;
	uint64_t capabilities; /* effective ones */
	mode_t umask;
	pid_t process;     /* the thread group, by our pid numbers */
	pid_t inner, inner_thread; /* process and thread by the numbers of its own pid namespace */
	int threads;
	uint64_t signals_pending;  /* pending for this thread, and neither blocked nor ignored */
	uint64_t signals_shared;   /* likewise for any thread of its process */
};

/* Reads /proc/TID/status; 0 or -errno. */
int identity_read(pid_t tid, struct identity *identity);
/* The umask in the text of /proc/TID/status: 0 or -errno. */
int identity_umask_in(const char *status, mode_t *mask);

/* Whether a tracee is in the same namespace as this thread, of a kind that /proc/PID/ns has. */
int identity_shares(pid_t tid, const char *which);
/* Whether a tracee has other rights than this thread. */
int identity_differs(pid_t tid);

/*
 * This thread accesses files as that tracee would, until identity_drop(). 0, or -errno when it cannot: then nothing may be
 * done on the tracee's behalf. `real`: by the real ids, as access(2) checks.
 */
int identity_assume(pid_t tid, const struct identity *identity, int real);
void identity_drop(void);
/*
 * Shows the assumed ids to other processes too: the peer of a connection, message or signal sees them and decides by them.
 * Undo it by identity_hide_ids().
 */
int identity_show_ids(void);
int identity_hide_ids(void);
/* Our own identity again for a moment, for what only we may read. */
void identity_pause(void);
int identity_resume(void);

#endif
