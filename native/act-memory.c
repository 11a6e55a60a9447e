/*
 * What acts need of the tracee's memory. Whatever a policy, a record or a question has read of it for this call comes
 * from that copy, so that all of them and the act see the same bytes. The rest is read here, once.
 */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"

#include <stdlib.h>
#include <string.h>

/* One range, as Answer.seen() in src/kernel/stop.ts writes it: this, then its bytes, padded to eight. */
struct seen {
	uint64_t address;
	uint32_t length;
	uint32_t unreadable; /* there are no bytes: reading it failed */
};

static size_t padded(size_t length)
{
	return (length + 7) & ~(size_t)7;
}

void act_keep_seen(struct act *act, const uint8_t *bytes, uint32_t length)
{
	if (act->seen != NULL || length == 0)
		return;
	act->seen = malloc(length);
	if (act->seen == NULL) { /* an act that does not know what was decided on must not be made */
		act->failed = -ENOMEM;
		return;
	}
	memcpy(act->seen, bytes, length);
	act->seen_size = length;
}

enum known { UNKNOWN, KNOWN, UNREADABLE };

/*
 * Whether the byte at `at` was read before, and for how many bytes (*length, at most what it says) that holds. The first
 * range that has it counts: replacements that a policy made come before what was read.
 */
static enum known known_at(const struct act *act, uint64_t at, size_t *length, const uint8_t **bytes)
{
	size_t place = 0;
	while (act->seen_size - place >= sizeof(struct seen)) {
		struct seen range;
		memcpy(&range, act->seen + place, sizeof range);
		place += sizeof range;
		if (!range.unreadable && range.length > act->seen_size - place)
			break;
		if (at >= range.address && at - range.address < range.length) {
			size_t left = range.length - (size_t)(at - range.address);
			if (left < *length)
				*length = left;
			*bytes = act->seen + place + (at - range.address);
			return range.unreadable ? UNREADABLE : KNOWN;
		}
		if (range.address > at && range.address - at < *length)
			*length = (size_t)(range.address - at);
		place += range.unreadable ? 0 : padded(range.length);
		if (place > act->seen_size)
			break;
	}
	return UNKNOWN;
}

static ssize_t read_now(const struct act *act, uint64_t address, void *into, size_t length)
{
	identity_pause();
	ssize_t got = memory_read(act->tid, address, into, length);
	return identity_resume() < 0 ? -EFAULT : got;
}

int act_take(const struct act *act, uint64_t address, void *into, size_t length)
{
	for (size_t done = 0; done < length;) {
		const uint8_t *bytes = NULL;
		size_t part = length - done;
		enum known known = known_at(act, address + done, &part, &bytes);
		if (known == UNREADABLE)
			return -EFAULT;
		if (known == KNOWN)
			memcpy((char *)into + done, bytes, part);
		else if (read_now(act, address + done, (char *)into + done, part) != (ssize_t)part)
			return -EFAULT;
		done += part;
	}
	return 0;
}

static ssize_t read_string_now(const struct act *act, uint64_t address, char *into, size_t size, int *truncated)
{
	identity_pause();
	ssize_t got = memory_read_string(act->tid, address, into, size, truncated);
	return identity_resume() < 0 ? -EFAULT : got;
}

ssize_t act_take_string(const struct act *act, int argument, char *into, size_t size, int *truncated)
{
	uint64_t address = act->args[argument];
	size_t done = 0;
	*truncated = 0;
	while (done < size - 1) {
		const uint8_t *bytes = NULL;
		size_t part = size - 1 - done;
		enum known known = known_at(act, address + done, &part, &bytes);
		ssize_t got;
		int goes_on = 0;
		if (known == KNOWN) {
			const uint8_t *end = memchr(bytes, 0, part);
			got = end != NULL ? end - bytes : (ssize_t)part;
			memcpy(into + done, bytes, (size_t)got);
			goes_on = end == NULL;
		} else {
			got = known == UNREADABLE ? -EFAULT : read_string_now(act, address + done, into + done, part, &goes_on);
		}
		if (got < 0)
			return -EFAULT;
		done += (size_t)got;
		if (!goes_on) {
			into[done] = 0;
			return (ssize_t)done;
		}
	}
	*truncated = 1;
	into[done] = 0;
	return (ssize_t)done;
}
