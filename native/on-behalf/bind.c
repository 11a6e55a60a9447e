/*
 * Binding a socket to a path on behalf. The kernel shows every process the name that a socket was bound to, as it was
 * written. It resolves that name while the program may exchange folders on the way. So a thread of its own binds it, under
 * a Landlock rule that lets it create sockets only in the folder that was decided on. Where such a thread is not possible,
 * the socket is bound from that folder by its last component, and other processes see that name (docs/explanation/transparency.md).
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../tracee/identity.h"
#include "../tracee/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOT_CONFINED = 1, STACK_SIZE = 256 * 1024 };

struct binding {
	const struct on_behalf_call *call;
	int fd;
	const struct sockaddr_un *name;
	socklen_t size;
	int from;       /* the folder that a relative name starts from */
	int64_t result; /* NOT_CONFINED: nothing was tried */
};

static int64_t bind_from(int folder, int fd, const struct sockaddr_un *name, socklen_t size)
{
	int before = open(".", O_PATH | O_CLOEXEC);
	if (before < 0)
		return -errno;
	int64_t result = kernel_result(fchdir(folder));
	if (result == 0)
		result = kernel_result(bind(fd, (const struct sockaddr *)name, size));
	if (fchdir(before) < 0)
		abort(); /* every later path of this thread would mean something else */
	close(before);
	return result;
}

static int64_t bind_by_last_component(const struct on_behalf_call *call, int fd)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const struct pin *pin = &call->pins[0];
	size_t length = strlen(pin->name);
	if (length > sizeof name.sun_path)
		return -ENAMETOOLONG;
	memcpy(name.sun_path, pin->name, length); /* one that fills it needs no NUL: unix(7) */
	size_t whole = length < sizeof name.sun_path ? length + 1 : length;
	return bind_from(pin->parent, fd, &name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + whole));
}

/* From now on this thread can create sockets only at and below that folder. */
static int confine_to(int folder)
{
	struct landlock_ruleset_attr handled = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_SOCK };
	struct landlock_path_beneath_attr rule = { .allowed_access = LANDLOCK_ACCESS_FS_MAKE_SOCK, .parent_fd = folder };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
	if (rules < 0)
		return -1;
	int failed = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ||
		     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_landlock_restrict_self, rules, 0) < 0;
	close(rules);
	return failed ? -1 : 0;
}

static void *bind_confined(void *argument)
{
	struct binding *b = argument;
	const struct on_behalf_call *call = b->call;
	struct identity identity;
	sigset_t every;
	sigfillset(&every);
	/* Its own working directory and the tracee's rights first: a confined thread cannot read the tracee any more. */
	int failed = pthread_sigmask(SIG_SETMASK, &every, NULL) != 0 || unshare(CLONE_FS) < 0;
	if (!failed && call->as_tracee)
		failed = identity_read(call->tid, &identity) < 0 || identity_assume(call->tid, &identity, 0) < 0;
	if (!failed && confine_to(call->pins[0].parent) == 0)
		b->result = bind_from(b->from, b->fd, b->name, b->size);
	return NULL; /* the thread's rights end with it */
}

/* Appends a path's components to a name, without `.` and empty ones. -1 with `..`, or when it does not fit. */
static int append(char *name, size_t size, const char *path)
{
	size_t used = strlen(name);
	while (*(path += strspn(path, "/"))) {
		size_t length = strcspn(path, "/");
		if (length == 2 && memcmp(path, "..", 2) == 0)
			return -1;
		if (length != 1 || path[0] != '.') {
			int put = snprintf(name + used, size - used, "/%.*s", (int)length, path);
			if (put < 0 || (size_t)put >= size - used)
				return -1;
			used += (size_t)put;
		}
		path += length;
	}
	return 0;
}

/* Whether the path, as written, is the canonical name: then it has no link. */
static int is_real(int from, const char *path, const char *real)
{
	char name[PATH_MAX] = "";
	if (path[0] != '/') {
		ssize_t length = name_of(from, name, sizeof name - 1);
		name[length > 1 ? length : 0] = 0;
	}
	return append(name, sizeof name, path) == 0 && strcmp(name, real) == 0;
}

/*
 * Chooses the name to bind by: as it was written, or, if it has links, the canonical one. The thread's Landlock rule
 * covers everything below the pinned folder, and a link could lead there.
 */
static int choose_name(const struct on_behalf_call *call, int from, struct sockaddr_un *name)
{
	char real[PATH_MAX];
	const struct pin *pin = &call->pins[0];
	ssize_t length = name_in(pin->parent, pin->name, real, sizeof real - 1);
	if (length <= 0 || real[0] != '/' || from < 0)
		return -1;
	real[length] = 0;
	if (is_real(from, name->sun_path, real))
		return 0;
	if ((size_t)length >= sizeof name->sun_path)
		return -1;
	strcpy(name->sun_path, real);
	return 0;
}

static int64_t bind_by_whole_name(const struct on_behalf_call *call, int fd, const struct sockaddr_un *wanted)
{
	struct sockaddr_un name = *wanted;
	struct binding b = { .call = call, .fd = fd, .name = &name, .result = NOT_CONFINED };
	pthread_t thread;
	pthread_attr_t attributes;
	identity_pause();
	b.from = open_proc(call->tid, "cwd");
	int started = 0;
	if (choose_name(call, b.from, &name) == 0 && pthread_attr_init(&attributes) == 0) {
		b.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name.sun_path) + 1);
		pthread_attr_setstacksize(&attributes, STACK_SIZE);
		started = pthread_create(&thread, &attributes, bind_confined, &b) == 0;
		pthread_attr_destroy(&attributes);
	}
	if (started)
		pthread_join(thread, NULL);
	if (b.from >= 0)
		close(b.from);
	int failed = identity_resume();
	return failed ? failed : b.result;
}

int64_t on_behalf_bind_path(const struct on_behalf_call *call, int fd, const struct sockaddr *address, socklen_t size)
{
	char bytes[sizeof(struct sockaddr_un) + 1] = "";
	struct sockaddr_un *name = (struct sockaddr_un *)(void *)bytes; /* with a NUL behind it */
	const struct pin *pin = &call->pins[0];
	int64_t result = NOT_CONFINED;
	if (size > sizeof *name)
		return -EINVAL;
	memcpy(bytes, address, size);
	if (pin->state == PIN_FOUND)
		return -EADDRINUSE;
	if (pin->state != PIN_MISSING)
		return pin->state == PIN_FAILED ? -pin->error : -EACCES;
	/* A caller with another root means another file by the same name. */
	if (!call->other_root && strchr(name->sun_path, '/') != NULL && strlen(name->sun_path) < sizeof name->sun_path)
		result = bind_by_whole_name(call, fd, name);
	return result == NOT_CONFINED ? bind_by_last_component(call, fd) : result;
}
