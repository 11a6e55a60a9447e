/* What a tracee may look at in /proc, as the kernel would decide if it looked itself. */
#ifndef HERMES_PROC_H
#define HERMES_PROC_H

#include "identity.h"

/* The tracee that looks. */
struct onlooker {
	pid_t tid;
	const struct identity *as; /* as whom we act for it, NULL: as ourselves */
};

enum proc_whose {
	PROC_NOBODYS, /* anybody may ask for it */
	PROC_OWN,     /* of its own process: the kernel asks nothing */
	PROC_OTHERS,  /* of another process: the kernel is to be asked as the tracee */
};

/* In a broker: the launcher and the supervisor of the session, which are not for the tracee either. */
void proc_are_ours(pid_t launcher, pid_t supervisor);
/* Who decides: that one, or this process. */
pid_t proc_supervisor(void);
int proc_is(int fd);
/* Whose an entry of a folder in /proc is, or -EACCES when the tracee may not look into it. `follows`: where a link leads. */
int proc_look(const struct onlooker *who, int folder, const char *name, int follows);

#endif
