/* See settled.h. */
#define _GNU_SOURCE
#include "settled.h"
#include "deputy.h"
#include "path.h"
#include "standin.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int class_of(const struct settled *table, const struct event *event)
{
	for (uint32_t i = 0; i < table->class_count && i < SETTLED_CLASSES; i++) {
		const struct settled_class *c = &table->classes[i];
		if (c->nr == event->nr && (c->flags_at < 0 || (uint32_t)event->args[c->flags_at] == c->flags))
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

static const struct slot *path_of(const struct event *event, const struct settled_class *c)
{
	const struct slot *slot = &event->slots[c->path_at];
	int there = event->fetched >> c->path_at & 1 && slot->error == 0 && !slot->truncated;
	return there && slot->length > 0 && slot->length < PATH_MAX ? slot : NULL;
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
static int wish_of(const struct event *event, struct open_how *how)
{
	int first = event->nr == SYS_open ? 1 : 2, makes = event->nr == SYS_creat;
	if (!opens(event->nr))
		return 0;
	*how = (struct open_how){ .flags = makes ? O_CREAT | O_WRONLY | O_TRUNC : (uint32_t)event->args[first] };
	if (how->flags & O_CREAT)
		how->mode = event->args[makes ? 1 : first + 1] & 07777;
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
static int name_whole(struct session *s, int dirfd, const char *path, char *name)
{
	if (path[0] == '/') {
		strcpy(name, path);
		return AT_FDCWD;
	}
	int base = origin_open(&s->origins, s->event->tid, dirfd);
	ssize_t length = base < 0 ? -1 : origin_name(&s->origins, base, name, PATH_MAX);
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
static int answer_straight(struct session *s, const struct look *look, int dirfd, const char *path)
{
	char name[2 * PATH_MAX];
	struct outcome outcome;
	struct open_how wish;
	mode_t mask = 0;
	if (!path_is_plain(path) || !wish_of(s->event, &wish) || (wish.flags & O_CREAT && !view_is_own()))
		return 0;
	if (wish.flags & O_CREAT && origin_umask(&s->origins, s->event->tid, &mask) < 0)
		return 0;
	int base = name_whole(s, dirfd, path, name);
	mode_t own = wish.flags & O_CREAT ? umask(mask) : 0;
	int answered = base != -1 && open_allowed(look, s->event->tid, base, path, name, &wish, &outcome);
	if (wish.flags & O_CREAT)
		umask(own);
	if (answered && outcome.fd >= 0)
		place_before_handing(s);
	if (base >= 0)
		close(base); /* before the caller goes on: it may be a copy of a descriptor of its own */
	if (answered)
		deputy_answer(s->listener, s->kept, s->event->id, &outcome);
	return answered;
}

/* ------------------------------------------------------------------ the other way */

/* In the caller's place, on what is pinned. */
static int make(struct session *s)
{
	memset(s->answer, 0, offsetof(struct answer, writes));
	s->answer->action = ANSWER_ACT;
	session_resume(s, s->event);
	return 1;
}

/* What it reaches is found and held as always, and its real name is what is looked up. */
static int answer_by_act(struct session *s, const struct look *look, int dirfd, const char *path)
{
	char real[2 * PATH_MAX];
	struct stat info;
	struct pin *pin = session_pins(s);
	ssize_t length = path_resolve(s->event->tid, dirfd, path,
				      (int)look->table->classes[look->class].resolve | session_confined(s), pin, real, sizeof real);
	if (length < 0 || !(length == PATH_AS_ASKED ? is_allowed(look, path, strlen(path))
						    : is_allowed(look, real, (size_t)length))) {
		pin_release(pin);
		return 0;
	}
	int may_wait = pin->state == PIN_FOUND && (fstat(pin->object, &info) < 0 || !is_file_or_folder(&info));
	if (may_wait)
		place_leave(s); /* a thread of its own does it, and is to run anywhere */
	else if (opens(s->event->nr))
		place_before_handing(s);
	return make(s);
}

/* The descriptor is held, and the name that it has is what is looked up. */
static int answer_on_descriptor(struct session *s, const struct look *look, int fd)
{
	char name[PATH_MAX];
	int object = fd < 0 ? -1 : origin_open(&s->origins, s->event->tid, fd);
	ssize_t length = object < 0 ? -1 : path_of_fd(getpid(), object, name, sizeof name);
	if (length <= 0 || length == sizeof name || name[0] != '/' || !is_allowed(look, name, (size_t)length)) {
		if (object >= 0)
			close(object);
		return 0;
	}
	pin_hold(session_pins(s), object);
	return make(s);
}

static int answer(struct session *s)
{
	char path[PATH_MAX];
	struct look look = { s->settled, atomic_load(&s->settled->generation), -1 };
	if (!atomic_load(&s->settled->in_force) || look.generation % 2 != 0)
		return 0;
	int answered;
	look.class = class_of(s->settled, s->event);
	if (look.class < 0 || origin_sight(&s->origins, s->event->tid, SIGHT_WHOLE))
		return 0;
	struct settled_class *c = &s->settled->classes[look.class];
	int dirfd = c->dirfd_at < 0 ? AT_FDCWD : (int)s->event->args[c->dirfd_at];
	if (c->path_at < 0) {
		answered = answer_on_descriptor(s, &look, dirfd);
	} else {
		const struct slot *slot = path_of(s->event, c);
		if (slot == NULL)
			return 0;
		memcpy(path, s->buffer + slot->offset, slot->length);
		path[slot->length] = 0;
		answered = answer_straight(s, &look, dirfd, path) || answer_by_act(s, &look, dirfd, path);
	}
	c->made += (unsigned int)answered;
	return answered;
}

int settled_answers(struct session *s)
{
	place_called(s);
	return s->settled != NULL && answer(s);
}

/* ------------------------------------------------------------------ programs that are not there */

/* FNV-1a, as in src/session/settled.ts. Nothing depends on it but who is asked. */
static uint32_t hash_of(const uint8_t *bytes, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

/* Many programs try every folder of PATH in turn. */
int settled_misses(struct session *s)
{
	char path[PATH_MAX];
	const struct settled_class at_first = { .path_at = 0 };
	if (s->settled == NULL || !s->settled->in_force || s->event->nr != SYS_execve)
		return 0;
	const struct slot *slot = path_of(s->event, &at_first);
	if (slot == NULL || s->buffer[slot->offset] != '/')
		return 0;
	uint32_t hash = hash_of(s->buffer + slot->offset, slot->length);
	if (s->settled->missing[hash % SETTLED_MISSING] != hash || origin_sight(&s->origins, s->event->tid, SIGHT_WHOLE))
		return 0;
	memcpy(path, s->buffer + slot->offset, slot->length);
	path[slot->length] = 0;
	int found = open_how(AT_FDCWD, path, 0, RESOLVE_NO_SYMLINKS);
	if (found >= 0)
		close(found);
	if (found >= 0 || errno != ENOENT)
		return 0;
	s->settled->missed++;
	return 1;
}
