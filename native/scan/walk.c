#define _GNU_SOURCE
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_AT_BOUNDS = 256, MIN_SHARED = 64, MANY_CHILDREN = 8, LONG_PATH = 512 };

/* An open folder that those below it are found from. */
struct anchor {
	int fd;
	size_t length; /* of its path */
};

int walker_open(struct walker *w, struct walk *walk)
{
	memset(w, 0, sizeof *w);
	w->walk = walk;
	w->path = malloc(PATH_ROOM);
	w->entries = malloc(ENTRIES_ROOM);
	return w->path != NULL && w->entries != NULL ? 0 : -1;
}

void walker_close(struct walker *w)
{
	growing_free(&w->found);
	growing_free(&w->children);
	arena_free(&w->arena);
	free(w->path);
	free(w->entries);
}

void stop_walk(struct walker *w) { __atomic_store_n(&w->walk->incomplete, 1, __ATOMIC_RELAXED); }

void look_at_bounds(struct walker *w)
{
	struct timespec now;
	uint64_t entries = __atomic_add_fetch(&w->walk->entries, w->not_counted, __ATOMIC_RELAXED);
	w->not_counted = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (entries > w->walk->request->max_entries || (int64_t)now.tv_sec * 1000000000 + now.tv_nsec > w->walk->deadline)
		stop_walk(w);
}

int is_stopped(struct walker *w)
{
	if (w->not_counted >= LOOK_AT_BOUNDS)
		look_at_bounds(w);
	return __atomic_load_n(&w->walk->incomplete, __ATOMIC_RELAXED);
}

int64_t change_time(const struct statx *file)
{
	return file->stx_ctime.tv_sec * 1000000000 + file->stx_ctime.tv_nsec;
}

static int is_unchanged(const struct folder *folder, const struct statx *now, const struct place *place)
{
	return folder->changed != 0 && place->identity != 0 && folder->file_system == place->identity &&
	       folder->inode == now->stx_ino && folder->changed == change_time(now);
}

/* It has vanished, or is not ours to look at: the next scan looks again. */
static void forget(struct folder *folder)
{
	folder->changed = 0;
	folder->child_count = 0;
	folder->found_size = 0;
	folder->unlisted = 0;
}

static void visit(struct walker *w, int fd, struct folder *folder, const struct place *above, int depth);

/* Returns 1 if another thread will visit the folder and close the descriptor. */
static int leave_to_others(struct walker *w, int fd, struct folder *folder, const struct place *above, int depth)
{
	if ((folder->subtree != 0 && folder->subtree < MIN_SHARED) || !tasks_are_few(&w->walk->tasks))
		return 0;
	struct task task = { .folder = folder, .fd = fd, .depth = depth, .place = *above, .path_length = w->path_length };
	task.path = malloc(w->path_length + 1);
	if (task.path == NULL)
		return 0;
	memcpy(task.path, w->path, w->path_length);
	if (tasks_put(&w->walk->tasks, &task))
		return 1;
	free(task.path);
	return 0;
}

/*
 * Not O_DIRECTORY: that would mount what is mounted on demand. No links: a folder on the way may have become one since it
 * was looked at.
 */
static int open_folder(const struct anchor *from, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	if (strchr(path, '/') != NULL) {
		int fd = (int)syscall(SYS_openat2, from->fd, path, &how, sizeof how);
		if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) /* filters of containers refuse calls that they do not know */
			return fd;
	}
	return openat(from->fd, path, (int)how.flags);
}

static void enter(struct walker *w, int fd, struct folder *folder, const struct place *above, int depth)
{
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			stop_walk(w);
		forget(folder);
	} else if (!leave_to_others(w, fd, folder, above, depth)) {
		visit(w, fd, folder, above, depth);
		close(fd);
	}
}

static int is_skipped(const struct walk *walk, const char *path, size_t length)
{
	return walk->skipped_lengths >> length % 64 & 1 && has_text(&walk->request->skipped, path, length);
}

static void visit_children(struct walker *w, const struct anchor *anchor, struct folder *folder, const struct place *place,
			   int depth);

/* Opening a folder takes longer than finding it by a path of some parts, unless there are many folders in it. */
static int is_worth_opening(const struct walker *w, const struct anchor *anchor, const struct folder *folder)
{
	return folder->child_count > 0 &&
	       (folder->child_count >= MANY_CHILDREN || w->path_length - anchor->length > LONG_PATH ||
		(folder->subtree >= MIN_SHARED && tasks_are_few(&w->walk->tasks)));
}

/* Returns 0 if the folder must be opened. */
static int visit_unopened(struct walker *w, const struct anchor *anchor, struct folder *folder, const struct place *place,
			  int depth)
{
	struct statx now;
	if (folder->changed == 0 || is_worth_opening(w, anchor, folder) ||
	    statx(anchor->fd, w->path + anchor->length + 1, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, SCAN_STATX_MASK, &now) < 0 ||
	    !is_in_place(place, &now) || !is_unchanged(folder, &now, place))
		return 0;
	w->folders++;
	w->not_counted++;
	visit_children(w, anchor, folder, place, depth);
	return 1;
}

static void visit_child(struct walker *w, const struct anchor *anchor, struct folder *child, const struct place *place,
			int depth)
{
	size_t length = w->path_length, size = strlen(child->name);
	if (length + 1 + size >= PATH_ROOM || depth > MAX_DEPTH) {
		forget(child);
		child->unlisted = 1;
		return;
	}
	w->path[length] = '/';
	memcpy(w->path + length + 1, child->name, size + 1);
	w->path_length = length + 1 + size;
	if (is_skipped(w->walk, w->path, w->path_length))
		forget(child);
	else if (!visit_unopened(w, anchor, child, place, depth))
		enter(w, open_folder(anchor, w->path + anchor->length + 1), child, place, depth);
	w->path_length = length;
}

static void visit_children(struct walker *w, const struct anchor *anchor, struct folder *folder, const struct place *place,
			   int depth)
{
	for (uint32_t i = 0; i < folder->child_count && !is_stopped(w); i++)
		visit_child(w, anchor, &folder->children[i], place, depth + 1);
}

static void visit(struct walker *w, int fd, struct folder *folder, const struct place *above, int depth)
{
	struct statx now;
	struct place place = *above;
	if (is_stopped(w))
		return;
	if (statx(fd, "", AT_EMPTY_PATH, SCAN_STATX_MASK, &now) < 0 || !S_ISDIR(now.stx_mode) ||
	    (!is_in_place(above, &now) && !find_place(&place, fd, &now, w->walk->boot))) {
		forget(folder);
		return;
	}
	w->folders++;
	w->not_counted++;
	if (!is_unchanged(folder, &now, &place))
		read_folder(w, fd, folder, &now, &place);
	visit_children(w, &(struct anchor){ .fd = fd, .length = w->path_length }, folder, &place, depth);
}

void walk_roots(struct walker *w, struct folder *roots)
{
	const struct texts *list = &w->walk->request->roots;
	append(&w->children, list->bytes, list->size);
	set_children(w, roots);
	for (uint32_t i = 0; i < roots->child_count; i++) {
		const char *path = roots->children[i].name;
		size_t length = strlen(path);
		if (length >= PATH_ROOM) {
			stop_walk(w);
			return;
		}
		w->path_length = strcmp(path, "/") == 0 ? 0 : length;
		memcpy(w->path, path, w->path_length);
		enter(w, open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), &roots->children[i], &(struct place){ 0 }, 0);
	}
}

void walk_tasks(struct walker *w)
{
	struct task task;
	while (tasks_take(&w->walk->tasks, &task)) {
		memcpy(w->path, task.path, task.path_length);
		w->path_length = task.path_length;
		visit(w, task.fd, task.folder, &task.place, task.depth);
		close(task.fd);
		free(task.path);
	}
}
