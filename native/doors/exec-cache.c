/*
 * Execs whose verdict is known. If the policies read nothing of an exec but its file and its words, they allow the same one
 * again. An entry holds what the call named when it was decided on, and what stood before its first instruction when that was
 * verified. Scripts have none: the exec event shows their interpreter, not them.
 *
 * What a call names only selects the entry: the program can exchange it while the call waits, and the file behind the path may
 * be another one by now. What counts is the comparison at the exec event, when nothing can be exchanged any more. If anything
 * differs there, the policies judge what is there.
 *
 * The second look is never left out. The kernel reads path and words again after the decision, and a program's memory has
 * more writers than its threads: any process of the run with the same user (process_vm_writev, /proc/PID/mem), and processes
 * that share it without a trace in /proc, such as the child of a vfork whose parent was killed.
 */
#define _GNU_SOURCE
#include "exec-cache.h"
#include "new-program.h"
#include "../protocol/verdict-cache.h"
#include "../tracee/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { ENTRIES = 512, KEY_SIZE = 2 * PATH_MAX, WORDS = 64, MAX_PROGRAM = 16 * 1024 };

struct known_exec {
	uint64_t hash;
	unsigned int generation;
	size_t key_length, program_length;
	uint8_t bytes[]; /* what it named, then what stood there */
};

struct exec_cache {
	uint64_t id; /* the notification that the note is about, 0 for none */
	struct known_exec *known[ENTRIES];
	struct exec_note note; /* its bytes follow */
	uint8_t bytes[KEY_SIZE];
};

static uint64_t hash_of(const uint8_t *bytes, size_t length)
{
	uint64_t hash = 14695981039346656037u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	return hash;
}

static int put(struct exec_note *note, const void *bytes, size_t length)
{
	if (length > KEY_SIZE - note->length)
		return 0;
	memcpy(note->bytes + note->length, bytes, length);
	note->length += length;
	return 1;
}

static int put_words(struct exec_note *note, pid_t tid, uint64_t argv)
{
	uint64_t pointers[WORDS];
	ssize_t got = argv == 0 ? -1 : memory_peek(tid, argv, pointers, sizeof pointers);
	for (ssize_t i = 0; i < got / (ssize_t)sizeof pointers[0]; i++) {
		int truncated;
		if (pointers[i] == 0)
			return 1;
		char *into = (char *)note->bytes + note->length;
		ssize_t length = memory_peek_string(tid, pointers[i], into, KEY_SIZE - note->length, &truncated);
		if (length < 0 || truncated)
			return 0;
		note->length += (size_t)length + 1; /* its NUL was copied too */
	}
	return 0;
}

/* An absolute path, and the words. Another working directory would give a relative one another meaning. */
static int note_call(const struct session *s, struct exec_note *note)
{
	const struct event *event = s->event;
	const struct slot *slot = &event->slots[0];
	const uint8_t *path = s->buffer + slot->offset;
	note->length = 0;
	if (!(event->fetched & 1) || slot->error || slot->truncated || slot->length == 0 || path[0] != '/')
		return 0;
	return put(note, path, slot->length) && put(note, "", 1) && put_words(note, event->tid, event->args[1]);
}

static struct known_exec *entry_of(const struct session *s, const struct exec_note *note)
{
	struct known_exec *e = s->exec_cache->known[note->hash % ENTRIES];
	int same = e != NULL && e->hash == note->hash && e->generation == note->generation && e->key_length == note->length &&
		   memcmp(e->bytes, note->bytes, note->length) == 0;
	return same ? e : NULL;
}

static int is_in_force(const struct session *s, unsigned int generation)
{
	return generation % 2 == 0 && atomic_load(&s->verdict_cache->in_force) &&
	       atomic_load(&s->verdict_cache->generation) == generation;
}

int exec_cache_look(struct session *s)
{
	if (s->event->nr != SYS_execve || s->verdict_cache == NULL || s->broker <= 0 || s->doors & 1 << DOOR_TRACE)
		return 0;
	unsigned int generation = atomic_load(&s->verdict_cache->generation);
	if (s->exec_cache == NULL)
		s->exec_cache = calloc(1, sizeof *s->exec_cache);
	if (s->exec_cache == NULL || !is_in_force(s, generation))
		return 0;
	struct exec_note *note = &s->exec_cache->note;
	s->exec_cache->id = 0;
	if (!note_call(s, note))
		return 0;
	s->exec_cache->id = s->event->id;
	note->hash = hash_of(note->bytes, note->length);
	note->generation = generation;
	note->is_known = entry_of(s, note) != NULL;
	s->verdict_cache->undecided_execs += note->is_known;
	return note->is_known;
}

struct exec_note *exec_cache_take_note(struct session *s, uint64_t id)
{
	if (s->exec_cache == NULL || s->exec_cache->id != id)
		return NULL;
	const struct exec_note *note = &s->exec_cache->note;
	struct exec_note *copy = malloc(sizeof *note + note->length);
	return copy == NULL ? NULL : memcpy(copy, note, sizeof *note + note->length);
}

int exec_cache_is_same(struct session *s, const struct exec_note *note, uint32_t size)
{
	const struct known_exec *e = is_in_force(s, note->generation) ? entry_of(s, note) : NULL;
	return e != NULL && size > 0 && e->program_length == size &&
	       memcmp(e->bytes + e->key_length, s->buffer + FETCH_OFFSET, size) == 0;
}

void exec_cache_learn(struct session *s, const struct exec_note *note, uint32_t size)
{
	if (size == 0 || size > MAX_PROGRAM || !is_in_force(s, note->generation))
		return;
	struct known_exec *e = malloc(sizeof *e + note->length + size), **place = &s->exec_cache->known[note->hash % ENTRIES];
	if (e == NULL)
		return;
	*e = (struct known_exec){ note->hash, note->generation, note->length, size };
	memcpy(e->bytes, note->bytes, note->length);
	memcpy(e->bytes + note->length, s->buffer + FETCH_OFFSET, size);
	free(*place);
	*place = e;
}

void exec_cache_forget(struct session *s, const struct exec_note *note)
{
	struct known_exec **place = &s->exec_cache->known[note->hash % ENTRIES];
	free(*place);
	*place = NULL;
}

void exec_cache_free(struct session *s)
{
	for (int i = 0; s->exec_cache != NULL && i < ENTRIES; i++)
		free(s->exec_cache->known[i]);
	free(s->exec_cache);
	s->exec_cache = NULL;
}
