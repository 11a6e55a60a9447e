/* Memory that grows: one block that may move, and an arena whose blocks stay where they are. */
#ifndef HERMES_GROWING_H
#define HERMES_GROWING_H

#include <stddef.h>
#include <stdint.h>

struct growing {
	uint8_t *bytes;
	size_t size;
	size_t room;
	int failed; /* out of memory: the rest is missing */
};

void append(struct growing *to, const void *bytes, size_t size);
void growing_free(struct growing *g);

struct arena {
	struct arena_block *blocks;
	size_t left; /* of the first block */
};

/* Aligned for any type. NULL: out of memory. */
void *arena_take(struct arena *arena, size_t size);
void arena_free(struct arena *arena);

#endif
