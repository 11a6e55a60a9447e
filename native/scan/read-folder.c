#define _GNU_SOURCE
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static int is_folder(int fd, const struct entry *e)
{
	struct statx info;
	if (e->type != DT_UNKNOWN)
		return e->type == DT_DIR;
	return statx(fd, e->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &info) == 0 && S_ISDIR(info.stx_mode);
}

static void take_entry(struct walker *w, int fd, const struct entry *e)
{
	size_t length = strlen(e->name);
	if (e->name[0] == '.' && (length == 1 || (length == 2 && e->name[1] == '.')))
		return;
	w->not_counted++;
	w->names_read++;
	if (is_wanted(&w->walk->names, e->name, length))
		append(&w->found, e->name, length + 1);
	if (is_folder(fd, e))
		append(&w->children, e->name, length + 1);
}

/* Returns 0 or -errno. */
static int take_entries(struct walker *w, int fd)
{
	while (!is_stopped(w)) {
		long size = syscall(SYS_getdents64, fd, w->entries, ENTRIES_ROOM);
		if (size <= 0) /* a folder that was removed has no names */
			return size == 0 || errno == ENOENT ? 0 : -errno;
		for (long at = 0; at < size; at += ((struct entry *)(w->entries + at))->size)
			take_entry(w, fd, (struct entry *)(w->entries + at));
	}
	return 0;
}

/* Fails for a folder that may not be entered, even if it may be listed: nothing below it can be opened. */
static int list_folder(struct walker *w, int fd)
{
	int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (list < 0)
		return -errno;
	int failed = take_entries(w, list);
	close(list);
	return failed;
}

/* The program has our user: it may enter what we may enter, and change the mode of what is ours. */
static int may_be_entered(int fd, const struct statx *folder)
{
	return folder->stx_uid == geteuid() || faccessat(fd, ".", X_OK, AT_EACCESS) == 0;
}

static void set_found(struct walker *w, struct folder *folder)
{
	char *names = arena_take(&w->arena, w->found.size);
	if (names == NULL || w->found.failed || w->found.size > UINT32_MAX) {
		stop_walk(w);
		return;
	}
	if (w->found.size > 0)
		memcpy(names, w->found.bytes, w->found.size);
	folder->found = names;
	folder->found_size = (uint32_t)w->found.size;
}

void read_folder(struct walker *w, int fd, struct folder *folder, const struct statx *now, const struct place *place)
{
	uint64_t before = w->names_read;
	int64_t changed = change_time(now);
	w->found.size = w->children.size = 0;
	w->read++;
	int failed = list_folder(w, fd);
	if (failed == -EMFILE || failed == -ENFILE || failed == -ENOMEM)
		stop_walk(w);
	folder->file_system = place->identity;
	folder->inode = now->stx_ino;
	folder->changed = failed == 0 && place->identity != 0 && changed < w->walk->trusted_until ? changed : 0;
	folder->unlisted = failed != 0 && may_be_entered(fd, now);
	folder->found_size = 0;
	set_found(w, folder);
	set_children(w, folder);
	if (folder->changed != 0)
		w->learned += 1 + w->names_read - before;
}
