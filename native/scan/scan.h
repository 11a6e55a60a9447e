/*
 * Finds files by their names below some folders, and remembers what it saw: a folder whose change time is the same as the
 * last time has the same names in it, and is not read again.
 */
#ifndef HERMES_SCAN_H
#define HERMES_SCAN_H

#include "growing.h"
#include "names.h"

struct scan_request {
	struct texts roots;
	struct texts skipped;  /* folders that are left out */
	struct texts names;    /* names.h */
	const uint8_t *memory; /* of the last scan, or empty */
	size_t memory_size;
	uint64_t max_entries;
	uint64_t max_milliseconds;
};

struct scan_result {
	struct growing found;    /* paths, each with its NUL */
	struct growing unlisted; /* folders that the program may be able to enter, but that could not be listed, or lie too deep */
	struct growing memory;   /* for the next scan; empty: incomplete, or the last one still serves */
	uint64_t folders;
	uint64_t read; /* folders that were read, because they are new or may have changed */
	int complete;  /* 0: a bound was reached, files may be missing */
};

void scan(const struct scan_request *request, struct scan_result *result);
void scan_free(struct scan_result *result);

#endif
