/* What a path reaches in a tracee's view, held open in a pin. */
#ifndef HERMES_PATH_H
#define HERMES_PATH_H

#include "../protocol/layout.h"
#include "cwd-cache.h"
#include "identity.h"
#include "proc-access.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RESOLVE_FOLLOW = 1,     /* follow a last component that is a link */
	RESOLVE_OTHER_ROOT = 2, /* the tracee may have another root, or other mounts, than we have */
	RESOLVE_AS_TRACEE = 4,  /* the tracee may have other rights than we have */
	RESOLVE_PARENT = 8,     /* the call changes an entry of a folder: hold the folder too */
	RESOLVE_HOW_SHIFT = 8,  /* from here on: the restrictions of an openat2 */
	RESOLVE_HOW_IN_ROOT = 0x18 << RESOLVE_HOW_SHIFT, /* … by which even "/" means the folder that the call names */
	PATH_AS_ASKED = 0,      /* instead of a length: the path is its own canonical name */
};

/* The flags for a tracee that differs so (enum difference). */
static inline int resolve_flags(int differences)
{
	return (differences & DIFFERENT_VIEW ? RESOLVE_OTHER_ROOT : 0) | (differences & DIFFERENT_RIGHTS ? RESOLVE_AS_TRACEE : 0);
}

/*
 * Holds in `pin` what the path reaches, and writes its canonical name to `into`. Returns the name's length or -errno. The pin
 * says more: that only the last component is missing, or which error the kernel would give.
 */
ssize_t path_resolve(pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size);
/* Holds a descriptor of the tracee, and writes its name as /proc has it. The name's length, or -errno. */
ssize_t path_pin_fd(pid_t tid, int fd, struct pin *pin, char *into, size_t size);
ssize_t path_of_fd(pid_t tid, int fd, char *into, size_t size);
/* Whether the tracee has another root, or another tree of mounts, than we have. */
int path_views_differ(pid_t tid);
/*
 * /proc/self refers to the process that reads it, and we read it for the tracee. Writes the tracee's target, by the pid
 * numbers of that /proc. 1: written; 0: the link is not /proc/self or /proc/thread-self; or -errno.
 */
int proc_self_target(pid_t tid, int link, const char *name, char *text, size_t size);
/* Without `.`, `..`, empty or trailing components: if no component is a link, the path is its own canonical name. */
int path_is_plain(const char *path);
/* Copies the path without `.` and empty components. Returns whether it is plain then. `into`: PATH_MAX bytes. */
int path_without_dots(const char *path, char *into);

void pin_release(struct pin *pin);
/* Facts of the file that a pin holds; `levels` >= 0: of the folder above it, that many levels up. 0 or -errno. */
struct pin_facts {
	uint64_t device, inode; /* as stat(2) has them */
	double born;            /* milliseconds since 1970, 0 when unknown */
	uint64_t mount;         /* the id of its mount */
	uint64_t inode_inside;  /* the kernel's own (fdinfo): stat(2) of some file systems shows another */
	uint64_t links;         /* how many names it has */
};
int pin_stat(const struct pin *pin, int levels, struct pin_facts *facts);
/* Bytes of the file that it holds: how many, or -errno. */
ssize_t pin_read(const struct pin *pin, uint64_t offset, void *into, size_t length);
void pin_fail(struct pin *pin, int error);
void pin_hold(struct pin *pin, int object);
/* Notes in the pin which device the object is. */
void pin_note_device(struct pin *pin);

/* The name of an open file as /proc/self/fd has it, with " (deleted)" behind one that was removed. */
ssize_t raw_name_of(int fd, char *into, size_t size);
ssize_t name_of(int fd, char *into, size_t size);
ssize_t name_in(int parent, const char *name, char *into, size_t size);
int same_file(int a, int b);
int open_proc(pid_t tid, const char *what);

static inline int open_how(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_PATH | O_CLOEXEC, .resolve = resolve };
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
}

/* ------------------------------------------------------------------ between path.c, pin.c and walk.c */

/* pin.c: as path_resolve(), in one system call or two. -ELOOP: the path has to be walked. */
ssize_t pin_plain(int base, const char *path, int flags, struct pin *pin, char *into, size_t size);
ssize_t pin_restricted(int base, const char *path, int flags, struct pin *pin, char *into, size_t size,
		       const struct proc_reader *reader);

enum { NAMELESS = 1, ALL_NAMELESS = 2 /* and everything below it */ };

struct walk {
	struct proc_reader reader;
	int nameless; /* reached through another process, and has no name that means the same to the tracee */
	int root;
	int here;
	int parent;   /* of `here`, once the last component has been taken */
	int links;
	char last[NAME_SIZE];
	char rest[2 * PATH_MAX + 2]; /* what is still to be walked */
};

/* walk.c: walks to the end, 0 or -errno. -ENOENT with a parent: only the last component does not exist. */
int walk_on(struct walk *w, int flags);
/* Whether the file is on a mount that the tracee, or the supervisor, has too. On other mounts its name means something else. */
int walk_is_in_view(pid_t tid, int fd);
/* Whether the tracee may open, or read as a link, what the walk reached: 0 or an errno. */
int walk_refuses(const struct walk *w);

#endif
