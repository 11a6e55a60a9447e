/* The functions that resolve paths and descriptors, and work on what the broker holds open for them. */
#define _GNU_SOURCE
#include "values.h"
#include "../session/broker-client.h"

#include <errno.h>
#include <string.h>

static struct pin *pin_at(struct call *c, int i)
{
	size_t size;
	uint8_t *into = bytes(c, i, &size);
	return size < sizeof(struct pin) ? NULL : (struct pin *)(void *)into;
}

/*
 * resolve(broker, tid, dirfd, path bytes, flags, into, pin): the length of the canonical path in `into`, or -errno. 0: the
 * path is canonical already. The last component need not exist. `flags` as in tracee/path.h. `pin` holds what the path
 * reaches; without a pin it is closed again.
 */
static napi_value resolve(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char path[4097];
	size_t size, room;
	struct pin own, *pin = pin_at(&c, 6);
	uint8_t *data = bytes(&c, 3, &size), *into = bytes(&c, 5, &room);
	if (data == NULL || into == NULL || room == 0)
		return number(env, -EINVAL);
	if (size > 4096)
		return number(env, -ENAMETOOLONG);
	memcpy(path, data, size);
	path[size] = 0;
	ssize_t length = broker_resolve((int)integer(&c, 0), (pid_t)integer(&c, 1), (int)integer(&c, 2), path,
					(int)integer(&c, 4), pin ? pin : &own, (char *)into, room - 1);
	if (pin == NULL)
		broker_release(&own);
	return number(env, length);
}

/* pinFd(broker, tid, fd, pin): pins a descriptor; its name in /proc as bytes, or -errno */
static napi_value pin_fd(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char into[TEXT_SIZE];
	struct pin *pin = pin_at(&c, 3);
	ssize_t length = pin == NULL ? -EINVAL
				     : broker_pin_fd((int)integer(&c, 0), (pid_t)integer(&c, 1), (int)integer(&c, 2), pin, into,
						     sizeof into);
	return length < 0 ? number(env, length) : text(env, into, (size_t)length);
}

/* releasePin(pin) */
static napi_value release_pin(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct pin *pin = pin_at(&c, 0);
	if (pin != NULL)
		broker_release(pin);
	return number(env, 0);
}

/* readPin(pin, offset, into): bytes of the pinned file: how many, or -errno */
static napi_value read_pin(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	struct pin *pin = pin_at(&c, 0);
	uint8_t *into = bytes(&c, 2, &size);
	return number(env, pin == NULL || into == NULL ? -EINVAL : broker_read(pin, (uint64_t)integer(&c, 1), into, size));
}

/* statPin(pin, levels, into): writes a struct pin_facts to `into`; 0 or -errno */
static napi_value stat_pin(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	struct pin *pin = pin_at(&c, 0);
	uint8_t *into = bytes(&c, 2, &size);
	if (pin == NULL || into == NULL || size < sizeof(struct pin_facts))
		return number(env, -EINVAL);
	return number(env, broker_stat(pin, (int)integer(&c, 1), (struct pin_facts *)(void *)into));
}

/* processOfPin(pin): process_of_fd() of the pinned descriptor */
static napi_value process_of_pin(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct pin *pin = pin_at(&c, 0);
	return number(env, pin == NULL ? -EINVAL : broker_process(pin));
}

/* sight(tid, wanted): where the tracee differs from us (enum difference) */
static napi_value sight(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct exec_counter nothing_known = { .unsure = 1 };
	struct cwd_cache none = { .exec_counter = &nothing_known };
	/* A policy may decide in another thread, which has no session. */
	struct cwd_cache *known = c.session ? &c.session->cwd_cache : &none;
	int differs = cwd_cache_differences(known, (pid_t)integer(&c, 0), (int)integer(&c, 1));
	cwd_cache_close(&none);
	return number(env, differs);
}

napi_status export_pin_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = {
		{ "resolve", resolve }, { "pinFd", pin_fd }, { "releasePin", release_pin }, { "readPin", read_pin },
		{ "statPin", stat_pin }, { "processOfPin", process_of_pin }, { "compareView", sight },
	};
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
