/*
 * /proc as this process found it when it began. It is held open: behind a fence the name leads to another one, which
 * knows other numbers.
 */
#ifndef HERMES_PROCFS_H
#define HERMES_PROCFS_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens /proc, and our own folder of descriptors in it. 0 or -errno. Who calls it once, early, may lose sight of /proc. */
int proc_hold(void);
int proc_folder(void);
/* Whether something lies in that /proc. */
int proc_is_held(int fd);
/* A broker may read that /proc; from now on the program may not (confine.c), and so nothing in it is opened for it. */
void proc_is_for_us_alone(void);
int proc_is_only_ours(int fd);
/* /proc/TID/WHAT; a `tid` of 0 is this process. A descriptor, or -1 and an errno. */
int proc_open(pid_t tid, const char *what, int flags);
int proc_stat(pid_t tid, const char *what, struct stat *info);
ssize_t proc_link(pid_t tid, const char *what, char *into, size_t size);
/* Its entries, or NULL and an errno. */
DIR *proc_list(pid_t tid, const char *what);
/* The text of a file, with a NUL behind it: its length, or -errno. What does not fit is cut off. */
ssize_t proc_text(pid_t tid, const char *what, char *into, size_t size);

/* /proc/self/fd, held open: openat(own_fds(), "7", …) opens anew what 7 refers to. */
int own_fds(void);
/* A path that leads to what a descriptor of ours refers to. Where /proc is out of sight, the thread is in own_fds(). */
enum { OWN_FD_PATH = 32 };
const char *own_fd_path(int fd, char *text);
void own_fd_paths_are_relative(void);
/* A process that shares our descriptors, and not the folder in which we have them, enters its own. 0 or -errno. */
int own_fds_enter(void);

#endif
