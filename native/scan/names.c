#define _GNU_SOURCE
#include "names.h"

#include <stdlib.h>
#include <string.h>

int has_text(const struct texts *list, const char *text, size_t length)
{
	for (size_t at = 0; at < list->size;) {
		size_t size = strlen(list->bytes + at);
		if (size == length && memcmp(list->bytes + at, text, length) == 0)
			return 1;
		at += size + 1;
	}
	return 0;
}

static void read_pair(struct name_pattern *p, const char *start, const char *end)
{
	p->whole = strcmp(start, "=") == 0;
	p->start = p->whole ? end : start;
	p->end = p->whole ? "" : end;
	p->start_length = strlen(p->start);
	p->end_length = strlen(p->end);
}

static void add_to_chain(struct names *names, uint32_t index)
{
	struct name_pattern *p = &names->patterns[index];
	uint32_t *chain;
	if (p->start_length > 0)
		chain = &names->by_first[(uint8_t)p->start[0]];
	else if (p->end_length > 0)
		chain = &names->by_last[(uint8_t)p->end[p->end_length - 1]];
	else {
		names->all |= !p->whole;
		return;
	}
	p->next = *chain;
	*chain = index;
}

int read_names(struct names *names, const struct texts *pairs)
{
	size_t texts = 0;
	for (size_t i = 0; i < pairs->size; i++)
		texts += pairs->bytes[i] == 0;
	memset(names, 0, sizeof *names);
	memset(names->by_first, 0xff, sizeof names->by_first);
	memset(names->by_last, 0xff, sizeof names->by_last);
	if (texts % 2 != 0 || texts / 2 >= NO_NAME)
		return -1;
	names->patterns = calloc(texts / 2 + 1, sizeof *names->patterns);
	if (names->patterns == NULL)
		return -1;
	const char *at = pairs->bytes;
	for (uint32_t i = 0; i < texts / 2; i++) {
		const char *end = at + strlen(at) + 1;
		read_pair(&names->patterns[i], at, end);
		add_to_chain(names, i);
		at = end + strlen(end) + 1;
	}
	return 0;
}

void free_names(struct names *names)
{
	free(names->patterns);
	names->patterns = NULL;
}

static int matches(const struct name_pattern *p, const char *name, size_t length)
{
	if (p->whole ? length != p->start_length : length < p->start_length + p->end_length)
		return 0;
	return memcmp(name, p->start, p->start_length) == 0 &&
	       memcmp(name + length - p->end_length, p->end, p->end_length) == 0;
}

static int has_match(const struct names *names, uint32_t chain, const char *name, size_t length)
{
	for (uint32_t i = chain; i != NO_NAME; i = names->patterns[i].next)
		if (matches(&names->patterns[i], name, length))
			return 1;
	return 0;
}

int is_wanted(const struct names *names, const char *name, size_t length)
{
	if (length == 0)
		return 0;
	return names->all || has_match(names, names->by_first[(uint8_t)name[0]], name, length) ||
	       has_match(names, names->by_last[(uint8_t)name[length - 1]], name, length);
}
