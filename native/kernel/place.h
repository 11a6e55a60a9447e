/*
 * Whether two processes of one user stand in the same place: no fence around one of them that is not around the other. A process
 * that answers for another one must be neither more nor less confined than that.
 */
#ifndef HERMES_PLACE_H
#define HERMES_PLACE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Whether they have the same users, groups, capabilities, seccomp filters, security label, namespaces, root and resource limits
 * (without that of open files, which Node raises). What cannot be read is a difference.
 */
int in_same_place(pid_t one, pid_t other);

/*
 * What only a process that may look into another one can know: a random text, as the name of a file that this other process holds
 * open. Landlock shows nowhere that it confines a process, but it forbids looking into processes outside of it, also to root. So
 * a process proves by this that it is not confined by Landlock.
 */
int sight_offer(void);
/* The text that `pid` offers: its length, or -1. */
ssize_t sight_of(pid_t pid, char *into, size_t size);

/* Whether a signal has stopped it. */
int process_is_stopped(pid_t pid);

/* Whether HERMES supervises this process: what it leaves running would keep that session from ending. */
int is_supervised(void);

#endif
