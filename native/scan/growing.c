#define _GNU_SOURCE
#include "growing.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096, ARENA_BLOCK = 1 << 18, ALIGNMENT = 16 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	_Alignas(ALIGNMENT) uint8_t bytes[];
};

void append(struct growing *to, const void *bytes, size_t size)
{
	if (size == 0 || to->failed)
		return;
	if (to->room - to->size < size) {
		size_t room = to->room ? to->room : FIRST_ROOM;
		while (room - to->size < size)
			room *= 2;
		uint8_t *more = realloc(to->bytes, room);
		if (more == NULL) {
			to->failed = 1;
			return;
		}
		to->bytes = more;
		to->room = room;
	}
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

void growing_free(struct growing *g)
{
	free(g->bytes);
	memset(g, 0, sizeof *g);
}

void *arena_take(struct arena *arena, size_t size)
{
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (arena->blocks == NULL || arena->left < size) {
		size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
		struct arena_block *block = malloc(sizeof *block + room);
		if (block == NULL)
			return NULL;
		*block = (struct arena_block){ .next = arena->blocks, .size = room };
		arena->blocks = block;
		arena->left = room;
	}
	void *taken = arena->blocks->bytes + (arena->blocks->size - arena->left);
	arena->left -= size;
	return taken;
}

void arena_free(struct arena *arena)
{
	while (arena->blocks != NULL) {
		struct arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
	arena->left = 0;
}
