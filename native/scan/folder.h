/* A folder, as a scan knows it. */
#ifndef HERMES_FOLDER_H
#define HERMES_FOLDER_H

#include <stdint.h>

struct folder {
	const char *name;         /* of a root: its path */
	const char *found;        /* the names in it that are wanted, each with its NUL */
	struct folder *children;  /* folders in it */
	uint64_t file_system;     /* struct place, identity */
	uint64_t inode;
	int64_t changed;          /* nanoseconds. 0: may have changed since it was read, or was not read */
	uint32_t child_count;
	uint32_t found_size;
	uint32_t subtree;         /* how many folders it and those below were at the last scan. 0: unknown */
	uint32_t unlisted;        /* what is in it is not known, but the program may be able to enter it */
};

#endif
