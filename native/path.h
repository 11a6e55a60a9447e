/* Parts of finding out what a path reaches. */
#ifndef HERMES_PATH_H
#define HERMES_PATH_H

#include "identity.h"
#include "proc.h"
#include "session.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAMELESS = 1, ALL_NAMELESS = 2 /* and so has all that is below */ };

struct walk {
	struct onlooker who;
	int nameless; /* what was reached through another process and has no name that means the same to the tracee */
	int root;
	int here;
	int parent; /* of what `here` is, once the last component has been taken */
	int links;
	char last[NAME_SIZE];
	char rest[2 * PATH_MAX + 2]; /* what is still to be walked */
};

static inline int open_how(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_PATH | O_CLOEXEC, .resolve = resolve };
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
}

/* walk.c: to the end, 0 or -errno. -ENOENT with a parent: only the last component does not exist. */
int walk_on(struct walk *w, int flags);
void walk_forget_parent(struct walk *w);
/* Whether a file lies where the tracee has it too, or who decides: in another tree of mounts names mean something else. */
int walk_is_in_view(pid_t tid, int fd);
/* Whether the tracee may open, or read as a link, what was reached: 0 or an errno. */
int walk_refuses(const struct walk *w);

/* pin.c: as path_resolve(), in one call or two; -ELOOP when the path has to be walked */
ssize_t pin_plain(int base, const char *path, int flags, struct pin *pin, char *into, size_t size);
ssize_t pin_restricted(int base, const char *path, int flags, struct pin *pin, char *into, size_t size,
		       const struct onlooker *who);
void pin_fail(struct pin *pin, int error);
void pin_hold(struct pin *pin, int object);
/* What the object is goes into the pin. */
void pin_look(struct pin *pin);
/* Without `.`, `..`, empty or trailing components: if it holds no link either, it is its own name. */
int path_is_plain(const char *path);

/* path.c */
int open_proc(pid_t tid, const char *what);
int same_file(int a, int b);
/* As /proc/self/fd has it, with " (deleted)" behind what has no name left. */
ssize_t raw_name_of(int fd, char *into, size_t size);
ssize_t name_of(int fd, char *into, size_t size);
ssize_t name_in(int parent, const char *name, char *into, size_t size);

#endif
