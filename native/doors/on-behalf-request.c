/* The on-behalf call that an answer in the shared buffer asks for. */
#define _GNU_SOURCE
#include "doors.h"
#include "../on-behalf/on-behalf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Without its addresses a message would go to the peer that its socket is connected to. */
static void keep_addresses(struct on_behalf_call *call, const uint8_t *bytes, uint32_t length)
{
	call->addresses = malloc(length);
	if (call->addresses == NULL) {
		call->failed = -ENOMEM;
		return;
	}
	memcpy(call->addresses, bytes, length);
	call->address_count = length / ADDRESS_SIZE;
}

struct on_behalf_call *on_behalf_from_answer(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct on_behalf_call *call = calloc(1, sizeof *call);
	if (call == NULL)
		return NULL;
	call->tid = event->tid;
	call->nr = event->nr;
	for (int i = 0; i < ARGUMENTS; i++)
		call->args[i] = answer->registers & 1u << i ? answer->args[i] : event->args[i];
	call->as_tracee = (answer->flags & ANSWER_AS_TRACEE) != 0;
	call->other_root = (answer->flags & ANSWER_OTHER_ROOT) != 0;
	call->routed = (answer->flags & ANSWER_ROUTED) != 0;
	call->no_stream = (answer->flags & ANSWER_NO_STREAM) != 0;
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++) {
		const struct write *w = &answer->writes[i];
		if (w->offset > REPLY_SIZE || w->length > REPLY_SIZE - w->offset) {
			call->failed = -EINVAL;
			continue;
		}
		const uint8_t *bytes = s->buffer + REPLY_OFFSET + w->offset;
		if (w->kind == WRITE_HOW) {
			call->how_size = w->length < HOW_SIZE ? w->length : HOW_SIZE;
			memcpy(call->how, bytes, call->how_size);
		} else if (w->kind == WRITE_ADDRESS && call->addresses == NULL) {
			keep_addresses(call, bytes, w->length);
		} else if (w->kind == WRITE_SNAPSHOT) {
			on_behalf_keep_snapshot(call, bytes, w->length);
		}
	}
	struct pin *pins = session_pins(s);
	memcpy(call->pins, pins, sizeof call->pins);
	memset(pins, 0, sizeof call->pins);
	on_behalf_take_umask(call, &s->cwd_cache);
	return call;
}
