/*
 * /proc as this process found it at its start, held open. Behind a fence the name leads to another /proc, which has other
 * pid numbers.
 */
#ifndef HERMES_PROCFS_H
#define HERMES_PROCFS_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens /proc and /proc/self/fd. 0 or -errno. Call it early if the process may lose sight of /proc later. */
int procfs_hold(void);
int procfs_dir(void);
/* Whether a file is in a /proc, of whichever pid namespace. */
int procfs_is(int fd);
/* Whether a file is in the /proc that we hold. */
int procfs_contains(int fd);
/* The broker may read the /proc that it holds, and the program may not (fence-rights.c): never open its files on behalf. */
void procfs_hide_from_program(void);
int procfs_is_hidden(int fd);
/* /proc/TID/WHAT; a `tid` of 0 is this process. A descriptor, or -1 and an errno. */
int procfs_open(pid_t tid, const char *what, int flags);
int procfs_stat(pid_t tid, const char *what, struct stat *info);
ssize_t procfs_link(pid_t tid, const char *what, char *into, size_t size);
/* The entries of a folder, or NULL and an errno. */
DIR *procfs_list(pid_t tid, const char *what);
/* The text of a file with a NUL behind it: its length, or -errno. A text that does not fit is cut off. */
ssize_t procfs_text(pid_t tid, const char *what, char *into, size_t size);
/* What follows "NAME:" at the beginning of a line, as /proc/TID/status and fdinfo have it; NULL when there is no such line. */
const char *procfs_field(const char *text, const char *name);
/* … as a number, 0 when there is no such line. */
uint64_t procfs_number(const char *text, const char *name, int base);

/* /proc/self/fd, held open: openat(own_fds(), "7", …) opens anew what descriptor 7 refers to. */
int own_fds(void);
/* A path to what a descriptor of ours refers to. Where /proc is out of sight it is relative to own_fds(), the thread's cwd. */
enum { OWN_FD_PATH = 32 };
const char *own_fd_path(int fd, char *text);
void own_fd_paths_are_relative(void);
/* For a process that shares our descriptors but not our /proc/self: makes its own /proc/self/fd its cwd. 0 or -errno. */
int own_fds_enter(void);

#endif
