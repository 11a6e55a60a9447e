#define _GNU_SOURCE
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* The children that a folder had, to be found by their names. They usually come in the same order again. */
struct former {
	struct folder *list;
	uint32_t count;
	uint32_t next;
	struct folder **sorted; /* made when the order has changed */
};

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct folder *const *)a)->name, (*(struct folder *const *)b)->name);
}

static int sort(struct former *f)
{
	f->sorted = malloc(f->count * sizeof *f->sorted);
	if (f->sorted == NULL)
		return -1;
	for (uint32_t i = 0; i < f->count; i++)
		f->sorted[i] = &f->list[i];
	qsort(f->sorted, f->count, sizeof *f->sorted, by_name);
	return 0;
}

static struct folder *find_former(struct former *f, const char *name)
{
	struct folder wanted = { .name = name }, *key = &wanted, **found;
	if (f->next < f->count && strcmp(f->list[f->next].name, name) == 0)
		return &f->list[f->next++];
	if (f->count == 0 || (f->sorted == NULL && sort(f) < 0))
		return NULL;
	found = bsearch(&key, f->sorted, f->count, sizeof *f->sorted, by_name);
	if (found == NULL)
		return NULL;
	f->next = (uint32_t)(*found - f->list) + 1;
	return *found;
}

/* A folder that changes meanwhile may list a name twice. So what is known of a child is used once. */
static struct folder take_former(struct former *f, const char *name)
{
	struct folder taken = { 0 }, *former = find_former(f, name);
	if (former != NULL) {
		taken = *former;
		*former = (struct folder){ .name = taken.name };
	}
	taken.name = name;
	return taken;
}

static uint32_t count_texts(const struct growing *texts)
{
	uint32_t count = 0;
	for (size_t i = 0; i < texts->size; i++)
		count += texts->bytes[i] == 0;
	return count;
}

void set_children(struct walker *w, struct folder *folder)
{
	struct former former = { .list = folder->children, .count = folder->child_count };
	uint32_t count = count_texts(&w->children);
	struct folder *children = arena_take(&w->arena, count * sizeof *children);
	char *names = arena_take(&w->arena, w->children.size);
	folder->child_count = 0;
	if (children == NULL || names == NULL || w->children.failed) {
		stop_walk(w);
		return;
	}
	if (count > 0)
		memcpy(names, w->children.bytes, w->children.size);
	for (uint32_t i = 0; i < count; names += strlen(names) + 1, i++)
		children[i] = take_former(&former, names);
	free(former.sorted);
	folder->children = children;
	folder->child_count = count;
}
