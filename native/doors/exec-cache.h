/* Execs that were decided on and verified before: see exec-cache.c. */
#ifndef HERMES_EXEC_CACHE_H
#define HERMES_EXEC_CACHE_H

#include "../session/session.h"

/* What an execve names, and whether the cache knows it. */
struct exec_note {
	uint64_t hash;
	unsigned int generation; /* of the verdict cache */
	int is_known;
	size_t length;
	uint8_t bytes[];
};

/* At the stop of an execve: notes what it names. Returns whether the policies have allowed that before. */
int exec_cache_look(struct session *s);
/* A copy of what was noted of this call, or NULL. The caller frees it. */
struct exec_note *exec_cache_take_note(struct session *s, uint64_t id);
/* Whether a known execve has started what it started before. The new program is in the buffer, `size` bytes of it. */
int exec_cache_is_same(struct session *s, const struct exec_note *note, uint32_t size);
/* The policies have allowed the new program in the buffer. */
void exec_cache_learn(struct session *s, const struct exec_note *note, uint32_t size);
/* The same call has started something else: the next one is decided on. */
void exec_cache_forget(struct session *s, const struct exec_note *note);
void exec_cache_free(struct session *s);

#endif
