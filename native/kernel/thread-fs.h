/*
 * A working directory and a umask that belong to one thread (CLONE_FS). A thread that has them can change both for a
 * single call without disturbing the rest of the process.
 */
#ifndef HERMES_THREAD_FS_H
#define HERMES_THREAD_FS_H

/* Gives this thread its own. Returns whether it has them now: a container's seccomp profile may refuse unshare(2). */
int thread_fs_unshare(void);
int thread_fs_is_own(void);

#endif
