/* What a tracee may read in /proc, as the kernel would decide if the tracee opened it itself. */
#ifndef HERMES_PROC_ACCESS_H
#define HERMES_PROC_ACCESS_H

#include "identity.h"

/* The tracee that reads. */
struct proc_reader {
	pid_t tid;
	const struct identity *as; /* the identity that we assume for it; NULL: our own is the same */
};

enum proc_owner {
	PROC_PUBLIC, /* every process may read it */
	PROC_OWN,    /* of the tracee's own process: the kernel allows it without a check */
	PROC_OTHER,  /* of another process: the kernel checks it against the identity that we assume */
};

/* In a broker: the session's launcher and supervisor, which the tracee may not read either. */
void proc_access_protect(pid_t launcher, pid_t supervisor);
/* That supervisor; outside of a broker, this process. */
pid_t proc_access_supervisor(void);
/* Whose entry `name` of a folder in /proc is, or -EACCES when the tracee may not read it. `follows`: the link is followed. */
int proc_access_check(const struct proc_reader *reader, int folder, const char *name, int follows);

#endif
