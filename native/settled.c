/* See settled.h. */
#define _GNU_SOURCE
#include "settled.h"
#include "deputy.h"
#include "path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

static int is_allowed(const struct settled *table, int class, const char *name, size_t length)
{
	unsigned state = state_of(table, name, length);
	return state != 0 && table->allowed[class][state];
}

/* ------------------------------------------------------------------ the quick way */

static int opens_what_is_there(const struct event *event, int *flags)
{
	*flags = (int)(event->nr == SYS_open ? event->args[1] : event->args[2]);
	return (event->nr == SYS_open || event->nr == SYS_openat) && !(*flags & (O_CREAT | O_TRUNC | O_PATH)) &&
	       (*flags & O_TMPFILE) != O_TMPFILE;
}

static int is_file_or_folder(const struct stat *info)
{
	return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode);
}

/*
 * Opens what has no link on its way, and so is what its name says. Only files and folders: to open anything else may
 * wait, or do something. Returns whether there is an outcome.
 */
static int open_straight(int base, const char *path, int flags, struct outcome *outcome)
{
	struct open_how how = { .flags = (uint32_t)(flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
				.resolve = RESOLVE_NO_SYMLINKS };
	struct stat info;
	if (fstatat(base, path, &info, AT_SYMLINK_NOFOLLOW) == 0 && !is_file_or_folder(&info))
		return 0;
	int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof how);
	*outcome = (struct outcome){ .result = -errno, .fd = fd, .fd_flags = (uint32_t)(flags & O_CLOEXEC) };
	if (fd < 0)
		return errno == ENOENT;
	if (fstat(fd, &info) == 0 && is_file_or_folder(&info) &&
	    (flags & O_NONBLOCK || fcntl(fd, F_SETFL, flags) == 0))
		return 1;
	close(fd);
	return 0;
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
static int answer_straight(struct session *s, int class, int dirfd, const char *path)
{
	char name[2 * PATH_MAX];
	struct outcome outcome;
	int flags;
	if (!path_is_plain(path) || !opens_what_is_there(s->event, &flags))
		return 0;
	int base = name_whole(s, dirfd, path, name);
	int answered = base != -1 && is_allowed(s->settled, class, name, strlen(name)) &&
		       open_straight(base, path, flags, &outcome);
	if (answered)
		deputy_answer(s->listener, s->kept, s->event->id, &outcome);
	if (base >= 0)
		close(base);
	return answered;
}

/* ------------------------------------------------------------------ the other way */

/* What it reaches is found and held as always, and its real name is what is looked up. */
static int answer_by_act(struct session *s, int class, int dirfd, const char *path)
{
	char real[2 * PATH_MAX];
	struct pin *pin = session_pins(s);
	ssize_t length = path_resolve(s->event->tid, dirfd, path, (int)s->settled->classes[class].resolve, pin, real, sizeof real);
	if (length < 0 || !(length == PATH_AS_ASKED ? is_allowed(s->settled, class, path, strlen(path))
						    : is_allowed(s->settled, class, real, (size_t)length))) {
		pin_release(pin);
		return 0;
	}
	memset(s->answer, 0, offsetof(struct answer, writes));
	s->answer->action = ANSWER_ACT;
	session_resume(s, s->event);
	return 1;
}

int settled_answers(struct session *s)
{
	char path[PATH_MAX];
	if (s->settled == NULL || !s->settled->in_force)
		return 0;
	int class = class_of(s->settled, s->event);
	const struct slot *slot = class < 0 ? NULL : path_of(s->event, &s->settled->classes[class]);
	if (slot == NULL)
		return 0;
	struct settled_class *c = &s->settled->classes[class];
	int dirfd = c->dirfd_at < 0 ? AT_FDCWD : (int)s->event->args[c->dirfd_at];
	memcpy(path, s->buffer + slot->offset, slot->length);
	path[slot->length] = 0;
	if (!answer_straight(s, class, dirfd, path) && !answer_by_act(s, class, dirfd, path))
		return 0;
	c->made++;
	return 1;
}
