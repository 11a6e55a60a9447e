/*
 * Answers an execve of an allowed program that does not exist with ENOENT: many programs try every folder of PATH in turn.
 */
#define _GNU_SOURCE
#include "doors.h"
#include "../session/broker-client.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

/* FNV-1a, as in the supervisor's verdict cache. A collision costs one more decision and nothing else. */
static uint32_t hash_of(const uint8_t *bytes, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

/* Whether the broker finds no such file. */
static int is_missing(struct session *s, const char *path)
{
	char name[2 * PATH_MAX];
	struct pin pin;
	broker_resolve(s->broker, s->event->tid, AT_FDCWD, path, RESOLVE_FOLLOW, &pin, name, sizeof name);
	int missing = pin.state == PIN_FAILED && pin.error == ENOENT;
	broker_release(&pin);
	return missing;
}

int missing_program_answer(struct session *s)
{
	char path[PATH_MAX];
	const struct slot *slot = &s->event->slots[0];
	if (s->verdict_cache == NULL || !atomic_load(&s->verdict_cache->in_force) || s->event->nr != SYS_execve)
		return 0;
	int fetched = s->event->fetched & 1 && slot->error == 0 && !slot->truncated;
	if (!fetched || slot->length == 0 || slot->length >= PATH_MAX || s->buffer[slot->offset] != '/')
		return 0;
	uint32_t hash = hash_of(s->buffer + slot->offset, slot->length);
	if (s->verdict_cache->missing[hash % MISSING_PROGRAMS] != hash)
		return 0;
	memcpy(path, s->buffer + slot->offset, slot->length);
	path[slot->length] = 0;
	if (!is_missing(s, path))
		return 0;
	s->verdict_cache->undecided_execs++;
	return 1;
}
