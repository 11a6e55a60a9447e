/* See settled.h. */
#define _GNU_SOURCE
#include "settled.h"
#include "deputy.h"
#include "path.h"
#include "standin.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int class_of(const struct settled *table, const struct asked *call)
{
	for (uint32_t i = 0; i < table->class_count && i < SETTLED_CLASSES; i++) {
		const struct settled_class *c = &table->classes[i];
		if (c->nr == call->nr && (c->flags_at < 0 || (uint32_t)call->args[c->flags_at % ARGUMENTS] == c->flags))
			return (int)i;
	}
	return -1;
}

static unsigned state_of(const struct settled *table, const char *path, size_t length)
{
	unsigned state = SETTLED_START;
	for (size_t i = 0; i < length && state != 0; i++) {
		unsigned char byte = (unsigned char)path[i];
		state = byte < SETTLED_BYTES ? table->next[state % SETTLED_STATES][byte] : 0;
	}
	return state % SETTLED_STATES;
}

/* Reads what it is about, once; if the table knows nothing of it, the supervisor decides on a copy of its own. */
static int take_path(const struct asked *call, const struct settled_class *c, char *path)
{
	int truncated = 0;
	uint64_t id = call->id;
	ssize_t length = memory_read_string(call->tid, call->args[c->path_at % ARGUMENTS], path, PATH_MAX, &truncated);
	/* It was read by thread number: if the caller has died, it may be somebody else's memory. */
	return length > 0 && !truncated && ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* What is looked up in one generation of the table. */
struct look {
	struct settled *table;
	unsigned int generation;
	int class;
};

static int still_stands(const struct look *look)
{
	return atomic_load(&look->table->generation) == look->generation;
}

/* The table may be emptied and filled anew while it is read: what was read of two generations is no answer. */
static int is_allowed(const struct look *look, const char *name, size_t length)
{
	unsigned state = state_of(look->table, name, length);
	int allowed = state != 0 && look->table->allowed[look->class][state];
	atomic_thread_fence(memory_order_acquire);
	return allowed && still_stands(look);
}

/* ------------------------------------------------------------------ the quick way */

static int opens(int nr)
{
	return nr == SYS_open || nr == SYS_openat || nr == SYS_creat;
}

/* What an open asks for; those that are as most are. */
static int wish_of(const struct asked *call, struct open_how *how)
{
	int first = call->nr == SYS_open ? 1 : 2, makes = call->nr == SYS_creat;
	if (!opens(call->nr))
		return 0;
	*how = (struct open_how){ .flags = makes ? O_CREAT | O_WRONLY | O_TRUNC : (uint32_t)call->args[first] };
	if (how->flags & O_CREAT)
		how->mode = call->args[makes ? 1 : first + 1] & 07777;
	int reads_and_empties = how->flags & O_TRUNC && (how->flags & O_ACCMODE) == O_RDONLY;
	return !(how->flags & O_PATH) && (how->flags & O_TMPFILE) != O_TMPFILE && !reads_and_empties;
}

static int is_file_or_folder(const struct stat *info)
{
	return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode);
}

/*
 * Opens, or makes, what has no link on its way, and so is what its name says. Only files and folders: to open anything
 * else may wait, or do something. What is to be emptied is so when the caller has its descriptor (deputy.c). -1 and an
 * errno: what the kernel says, or EAGAIN.
 */
static int open_straight(pid_t tid, int base, const char *path, const struct open_how *wish, int *truncates)
{
	struct open_how how = { wish->flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, wish->mode, RESOLVE_NO_SYMLINKS };
	struct stat info;
	int there = fstatat(base, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
	if ((there && !is_file_or_folder(&info) && !S_ISLNK(info.st_mode)) ||
	    (!there && wish->flags & O_CREAT && !act_has_room(tid)))
		return errno = EAGAIN, -1;
	*truncates = there && wish->flags & O_TRUNC;
	how.flags &= ~(uint64_t)O_TRUNC;
	if (!there && wish->flags & O_CREAT)
		how.flags |= O_EXCL; /* a file that somebody else makes now would have to be emptied */
	int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof how);
	if (fd < 0 && errno == EEXIST && !(wish->flags & O_EXCL))
		errno = EAGAIN;
	if (fd < 0 || (fstat(fd, &info) == 0 && is_file_or_folder(&info) && !(major(info.st_dev) == 0 && proc_is(fd)) &&
		       act_empties(fd, &info, (int)wish->flags) >= 0 &&
		       (wish->flags & O_NONBLOCK || fcntl(fd, F_SETFL, (int)wish->flags) == 0)))
		return fd;
	close(fd);
	return errno = EAGAIN, -1;
}

/* The name of what a path with links reaches, with a NUL behind it; 0 when it reaches nothing, or what has no name. */
static int name_behind_links(int base, const char *path, char *real)
{
	int held = open_how(base, path, 0, RESOLVE_NO_MAGICLINKS);
	ssize_t length = held < 0 ? -1 : name_of(held, real, PATH_MAX - 1);
	if (held >= 0)
		close(held);
	real[length > 0 ? length : 0] = 0;
	return length > 0 && real[0] == '/' && path_is_plain(real);
}

/*
 * Returns whether there is an outcome. Whatever is opened has an allowed name, and no link leads from it elsewhere. To
 * open may take long, and other policies may decide by then: they are asked, unless it has changed something already.
 */
static int open_allowed(const struct look *look, pid_t tid, int base, const char *path, const char *name,
			const struct open_how *wish, struct outcome *outcome)
{
	char real[PATH_MAX];
	int truncates = 0, allowed = is_allowed(look, name, strlen(name));
	int fd = allowed ? open_straight(tid, base, path, wish, &truncates) : -1;
	int error = allowed ? errno : ELOOP; /* only those names are known that no link is in */
	if (fd < 0 && error == ELOOP && !(wish->flags & O_NOFOLLOW) && name_behind_links(base, path, real) &&
	    is_allowed(look, real, strlen(real)))
		fd = open_straight(tid, AT_FDCWD, real, wish, &truncates);
	if (fd >= 0 && !(wish->flags & (O_CREAT | O_TRUNC)) && !still_stands(look)) {
		close(fd);
		return 0;
	}
	*outcome = (struct outcome){ .result = -error, .fd = fd, .fd_flags = (uint32_t)wish->flags & O_CLOEXEC,
				     .truncates = truncates };
	return fd >= 0 || error == ENOENT;
}

/* The path with the name of the folder it starts from, and that folder: AT_FDCWD for none, -1 when that is unknown. */
static int name_whole(const struct asked *call, int dirfd, const char *path, char *name)
{
	if (path[0] == '/') {
		strcpy(name, path);
		return AT_FDCWD;
	}
	int base = origin_open(call->origins, call->tid, dirfd);
	ssize_t length = base < 0 ? -1 : origin_name(call->origins, base, name, PATH_MAX);
	if (length > 0 && name[0] == '/') {
		if (length > 1)
			name[length++] = '/';
		strcpy(name + length, path); /* each is shorter than PATH_MAX */
		return base;
	}
	if (base >= 0)
		close(base);
	return -1;
}

/* For paths that are as plain as most are: returns whether the call is answered. */
static int answer_straight(const struct asked *call, const struct look *look, int dirfd, const char *path)
{
	char name[2 * PATH_MAX];
	struct outcome outcome;
	struct open_how wish;
	mode_t mask = 0;
	if (!path_is_plain(path) || !wish_of(call, &wish) || (wish.flags & O_CREAT && !view_is_own()))
		return 0;
	if (wish.flags & O_CREAT && origin_umask(call->origins, call->tid, &mask) < 0)
		return 0;
	int base = name_whole(call, dirfd, path, name);
	mode_t own = wish.flags & O_CREAT ? umask(mask) : 0;
	int answered = base != -1 && open_allowed(look, call->tid, base, path, name, &wish, &outcome);
	if (wish.flags & O_CREAT)
		umask(own);
	if (answered && outcome.fd >= 0 && call->place)
		place_before_handing(call->place, call->tid);
	if (base >= 0)
		close(base); /* before the caller goes on: it may be a copy of a descriptor of its own */
	if (answered)
		deputy_answer(call->listener, NULL, call->id, &outcome);
	return answered;
}

/* ------------------------------------------------------------------ the other way */

/* In the caller's place, on what is pinned. */
static int make(const struct asked *call, const struct pin *pin)
{
	struct act *act = act_made(call->tid, call->nr, call->args, pin, call->origins);
	if (act == NULL) {
		struct pin own = *pin;
		pin_release(&own);
		return 0;
	}
	deputy_serve(call->listener, NULL, call->id, act);
	return 1;
}

/* What the path reaches, as the caller would. */
static void find(const struct asked *call, const struct settled_class *c, int sight, struct found *found)
{
	int ways = (sight & SIGHT_APART ? RESOLVE_APART : 0) | (sight & SIGHT_STRANGER ? RESOLVE_AS_TRACEE : 0);
	found->dirfd = c->dirfd_at < 0 ? AT_FDCWD : (int)call->args[c->dirfd_at % ARGUMENTS];
	found->flags = (int)c->resolve;
	found->length = path_resolve(call->tid, found->dirfd, found->path, found->flags | ways, &found->pin, found->name,
				     sizeof found->name);
	found->known = 1;
}

/* It is held, and its real name is what is looked up. */
static int answer_by_act(const struct asked *call, const struct look *look, struct found *found)
{
	struct stat info;
	const struct pin *pin = &found->pin;
	if (found->length < 0 || !(found->length == PATH_AS_ASKED ? is_allowed(look, found->path, strlen(found->path))
								  : is_allowed(look, found->name, (size_t)found->length)))
		return 0;
	int may_wait = pin->state == PIN_FOUND && (fstat(pin->object, &info) < 0 || !is_file_or_folder(&info));
	if (may_wait && call->place)
		place_leave(call->place); /* a thread of its own does it, and is to run anywhere */
	else if (opens(call->nr) && call->place)
		place_before_handing(call->place, call->tid);
	found->known = 0;
	return make(call, pin);
}

/* The descriptor is held, and the name that it has is what is looked up. */
static int answer_on_descriptor(const struct asked *call, const struct look *look, int fd)
{
	char name[PATH_MAX];
	struct pin pin;
	int object = fd < 0 ? -1 : origin_open(call->origins, call->tid, fd);
	ssize_t length = object < 0 ? -1 : raw_name_of(object, name, sizeof name);
	if (length <= 0 || length == sizeof name || name[0] != '/' || !is_allowed(look, name, (size_t)length)) {
		if (object >= 0)
			close(object);
		return 0;
	}
	pin_hold(&pin, object);
	return make(call, &pin);
}

static int answer(const struct asked *call, const struct look *look, int sight, int stands, struct found *found)
{
	const struct settled_class *c = &call->table->classes[look->class];
	int dirfd = c->dirfd_at < 0 ? AT_FDCWD : (int)call->args[c->dirfd_at % ARGUMENTS];
	if (c->path_at < 0)
		return stands && answer_on_descriptor(call, look, dirfd);
	if (!take_path(call, c, found->path))
		return 0;
	if (stands && answer_straight(call, look, dirfd, found->path))
		return 1;
	find(call, c, sight, found);
	return stands && answer_by_act(call, look, found);
}

int settled_answers(const struct asked *call, struct found *found)
{
	struct look look = { call->table, atomic_load(&call->table->generation), class_of(call->table, call) };
	found->known = 0;
	if (look.class < 0)
		return 0;
	int sight = origin_sight(call->origins, call->tid, SIGHT_WHOLE);
	int stands = sight == 0 && atomic_load(&call->table->in_force) && look.generation % 2 == 0 &&
		     call->table->classes[look.class].stands;
	int answered = answer(call, &look, sight, stands, found);
	call->table->classes[look.class].made += (unsigned int)answered;
	return answered;
}
