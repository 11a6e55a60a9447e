/* What an event's arguments point to, copied when the call stops; and memory that an answer writes back. */
#define _GNU_SOURCE
#include "doors.h"
#include "../tracee/memory.h"

#include <errno.h>
#include <string.h>

int apply_writes(pid_t tid, const struct answer *answer, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++) {
		const struct write *w = &answer->writes[i];
		if (w->kind != WRITE_MEMORY)
			continue;
		if (w->offset > REPLY_SIZE || w->length > REPLY_SIZE - w->offset)
			return -EINVAL;
		int failed = memory_write(tid, w->address, bytes + w->offset, w->length);
		if (failed)
			return failed;
	}
	return 0;
}

/*
 * Copies a string that an earlier argument has fetched already, wholly or as its tail: link(2) with one name for both.
 * Returns its length, or -1.
 */
static ssize_t copy_fetched(const struct session *s, int i, uint8_t *into, size_t maximum)
{
	const struct event *event = s->event;
	for (int k = 0; k < i; k++) {
		const struct slot *slot = &event->slots[k];
		uint64_t from = event->args[i] - event->args[k];
		int is_text = event->fetched >> k & 1 && s->fetch_plan.steps[event->nr][k].kind == FETCH_STRING;
		if (!is_text || slot->error || slot->truncated || event->args[i] < event->args[k] || from > slot->length)
			continue;
		size_t length = slot->length - (size_t)from;
		if (length >= maximum)
			continue;
		memcpy(into, s->buffer + slot->offset + from, length);
		return (ssize_t)length;
	}
	return -1;
}

void fetch_arguments(struct session *s)
{
	struct event *event = s->event;
	uint32_t used = 0;
	event->fetched = 0;
	if (event->nr < 0 || event->nr >= MAX_SYSCALL)
		return;
	for (int i = 0; i < ARGUMENTS; i++) {
		const struct fetch_step *step = &s->fetch_plan.steps[event->nr][i];
		struct slot *slot = &event->slots[i];
		uint8_t *into = s->buffer + FETCH_OFFSET + used;
		int truncated = 0;
		ssize_t got;
		if (step->kind == FETCH_NOTHING)
			continue;
		if (event->args[i] == 0) {
			got = -EFAULT;
		} else if (step->kind == FETCH_STRING) {
			got = copy_fetched(s, i, into, step->maximum);
			if (got < 0)
				got = memory_read_string(event->tid, event->args[i], (char *)into, step->maximum, &truncated);
		} else {
			uint64_t length = step->length < ARGUMENTS ? event->args[step->length] : step->maximum;
			truncated = length > step->maximum;
			size_t wanted = truncated ? step->maximum : (size_t)length;
			got = wanted == 0 ? 0 : memory_read(event->tid, event->args[i], into, wanted);
			if (got >= 0 && (size_t)got < wanted) /* the kernel takes all of it or nothing */
				got = -EFAULT;
		}
		slot->offset = FETCH_OFFSET + used;
		slot->length = got < 0 ? 0 : (uint32_t)got;
		slot->error = got < 0 ? (int32_t)-got : 0;
		slot->truncated = (uint32_t)truncated;
		event->fetched |= 1u << i;
		used += slot->length;
	}
}
