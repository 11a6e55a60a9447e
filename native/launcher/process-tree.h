/* The tree of processes, as /proc shows it. */
#ifndef HERMES_TREE_H
#define HERMES_TREE_H

#include <sys/types.h>

typedef void visitor(pid_t pid, void *context);
/* Visits every descendant of `pid`, the children of all its threads included; pass a `depth` of 0. */
void for_each_descendant(pid_t pid, int depth, visitor *visit, void *context);
/* The state, process group and terminal of a process; 0 when it has ended. */
int read_stat(pid_t pid, char *state, int *group, int *terminal);
/* Whether `pid` is the only child of this process. */
int only_child_is(pid_t pid);

#endif
