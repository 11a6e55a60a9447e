/* The tree of processes, as /proc shows it. */
#ifndef HERMES_TREE_H
#define HERMES_TREE_H

#include <sys/types.h>

typedef void visitor(pid_t pid, void *context);
/* Visits the children of `pid`, by any of its threads, and theirs; `depth` is 0. */
void visit_descendants(pid_t pid, int depth, visitor *visit, void *context);
/* The state, group and terminal of a process; 0 when it is gone. */
int read_stat(pid_t pid, char *state, int *group, int *terminal);
/* 1 when `pid` is the only child that this process has left. */
int only_child_is(pid_t pid);

#endif
