/* Walks folders in several threads, and reads those that have changed. */
#ifndef HERMES_WALK_H
#define HERMES_WALK_H

#include "scan.h"
#include "tasks.h"

enum { MAX_DEPTH = 256, PATH_ROOM = 1 << 16, ENTRIES_ROOM = 1 << 15 };

/* One scan. */
struct walk {
	const struct scan_request *request;
	struct names names;
	struct tasks tasks;
	uint64_t boot;
	uint64_t skipped_lengths; /* bit n % 64: a skipped folder's path has n bytes */
	int64_t trusted_until;    /* a folder that changed later is read again the next time */
	int64_t deadline;         /* nanoseconds of the monotonic clock */
	uint64_t entries;         /* atomic: folders visited and names read */
	int incomplete;           /* atomic */
};

/* What one thread has. */
struct walker {
	struct walk *walk;
	struct arena arena;      /* what it read */
	struct growing found;    /* in the folder that is being read */
	struct growing children; /* names of the folders in it */
	char *path;              /* of the folder that is being visited, without a final slash */
	size_t path_length;
	char *entries;           /* buffer for getdents64 */
	uint64_t folders, read, names_read;
	uint64_t learned;     /* names in folders that the next scan need not read */
	uint64_t not_counted; /* entries not yet in walk->entries */
};

int walker_open(struct walker *w, struct walk *walk);
void walker_close(struct walker *w);

/* Visits the roots: the children of this folder. */
void walk_roots(struct walker *w, struct folder *roots);

/* Visits what other threads leave, until all of them are done. */
void walk_tasks(struct walker *w);

/* Adds what this thread has counted; stops the walk if it has reached a bound. */
void look_at_bounds(struct walker *w);
void stop_walk(struct walker *w);
int is_stopped(struct walker *w);

/* read-folder.c: reads the names in an open folder. `now` is from before the reading. */
void read_folder(struct walker *w, int fd, struct folder *folder, const struct statx *now, const struct place *place);

/* children.c: makes the names in w->children the folder's children, with all that is known of those it had. */
void set_children(struct walker *w, struct folder *folder);

int64_t change_time(const struct statx *file);

#endif
