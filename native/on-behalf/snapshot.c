/*
 * What on-behalf calls read of the tracee's memory. Bytes that a policy, a record or a question has read for this call
 * come from that snapshot, so that the call uses the same bytes as they did. All other bytes are read here, once.
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../tracee/identity.h"
#include "../tracee/memory.h"

#include <stdlib.h>
#include <string.h>

/* One range, as Answer.seen() in src/kernel/binding/stop.ts writes it: this header, then its bytes, padded to eight. */
struct snapshot_range {
	uint64_t address;
	uint32_t length;
	uint32_t unreadable; /* reading it failed: there are no bytes */
};

static size_t padded(size_t length)
{
	return (length + 7) & ~(size_t)7;
}

void on_behalf_keep_snapshot(struct on_behalf_call *call, const uint8_t *bytes, uint32_t length)
{
	if (call->snapshot != NULL || length == 0)
		return;
	call->snapshot = malloc(length);
	if (call->snapshot == NULL) { /* a call without the bytes that were decided on must not be made */
		call->failed = -ENOMEM;
		return;
	}
	memcpy(call->snapshot, bytes, length);
	call->snapshot_size = length;
}

enum known { UNKNOWN, KNOWN, UNREADABLE };

/*
 * Whether the byte at `at` is in the snapshot, and for how many bytes (*length, at most its value before) that holds. The
 * first matching range counts: a policy's replacements come before what was read.
 */
static enum known known_at(const struct on_behalf_call *call, uint64_t at, size_t *length, const uint8_t **bytes)
{
	size_t offset = 0;
	while (call->snapshot_size - offset >= sizeof(struct snapshot_range)) {
		struct snapshot_range range;
		memcpy(&range, call->snapshot + offset, sizeof range);
		offset += sizeof range;
		if (!range.unreadable && range.length > call->snapshot_size - offset)
			break;
		if (at >= range.address && at - range.address < range.length) {
			size_t left = range.length - (size_t)(at - range.address);
			if (left < *length)
				*length = left;
			*bytes = call->snapshot + offset + (at - range.address);
			return range.unreadable ? UNREADABLE : KNOWN;
		}
		if (range.address > at && range.address - at < *length)
			*length = (size_t)(range.address - at);
		offset += range.unreadable ? 0 : padded(range.length);
		if (offset > call->snapshot_size)
			break;
	}
	return UNKNOWN;
}

static ssize_t read_now(const struct on_behalf_call *call, uint64_t address, void *into, size_t length)
{
	identity_pause();
	ssize_t got = memory_read(call->tid, address, into, length);
	return identity_resume() < 0 ? -EFAULT : got;
}

int on_behalf_read(const struct on_behalf_call *call, uint64_t address, void *into, size_t length)
{
	for (size_t done = 0; done < length;) {
		const uint8_t *bytes = NULL;
		size_t part = length - done;
		enum known known = known_at(call, address + done, &part, &bytes);
		if (known == UNREADABLE)
			return -EFAULT;
		if (known == KNOWN)
			memcpy((char *)into + done, bytes, part);
		else if (read_now(call, address + done, (char *)into + done, part) != (ssize_t)part)
			return -EFAULT;
		done += part;
	}
	return 0;
}

static ssize_t read_string_now(const struct on_behalf_call *call, uint64_t address, char *into, size_t size, int *truncated)
{
	identity_pause();
	ssize_t got = memory_read_string(call->tid, address, into, size, truncated);
	return identity_resume() < 0 ? -EFAULT : got;
}

ssize_t on_behalf_read_string(const struct on_behalf_call *call, int argument, char *into, size_t size, int *truncated)
{
	uint64_t address = call->args[argument];
	size_t done = 0;
	*truncated = 0;
	while (done < size - 1) {
		const uint8_t *bytes = NULL;
		size_t part = size - 1 - done;
		enum known known = known_at(call, address + done, &part, &bytes);
		ssize_t got;
		int goes_on = 0;
		if (known == KNOWN) {
			const uint8_t *end = memchr(bytes, 0, part);
			got = end != NULL ? end - bytes : (ssize_t)part;
			memcpy(into + done, bytes, (size_t)got);
			goes_on = end == NULL;
		} else {
			got = known == UNREADABLE ? -EFAULT : read_string_now(call, address + done, into + done, part, &goes_on);
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

int64_t on_behalf_write(const struct on_behalf_call *call, int argument, const void *bytes, size_t length, int64_t result)
{
	identity_pause();
	int failed = memory_write(call->tid, call->args[argument], bytes, length);
	return identity_resume() < 0 || failed ? -EFAULT : result;
}
