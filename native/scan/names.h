/* Names to look for, and lists of texts. */
#ifndef HERMES_NAMES_H
#define HERMES_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Texts one after the other, each with its NUL. */
struct texts {
	const char *bytes;
	size_t size;
};

int has_text(const struct texts *list, const char *text, size_t length);

enum { NO_NAME = UINT32_MAX };

struct name_pattern {
	const char *start; /* or the whole name */
	const char *end;
	size_t start_length;
	size_t end_length;
	int whole;
	uint32_t next; /* in the same chain, or NO_NAME */
};

/* Chained by the first byte of the names that match, or by the last one, so that a name is compared with few of them. */
struct names {
	struct name_pattern *patterns;
	uint32_t by_first[256];
	uint32_t by_last[256];
	int all; /* a pattern matches every name */
};

/* From pairs: how a name begins and how it ends; or "=" and the whole name. Returns 0, or -1: not pairs, or no memory. */
int read_names(struct names *names, const struct texts *pairs);
void free_names(struct names *names);
int is_wanted(const struct names *names, const char *name, size_t length);

#endif
