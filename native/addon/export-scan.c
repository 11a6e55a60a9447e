/* The search for files by name (scan/scan.c). */
#define _GNU_SOURCE
#include "values.h"
#include "../scan/scan.h"

static struct texts texts_of(struct call *c, int i)
{
	size_t size;
	const uint8_t *data = bytes(c, i, &size);
	if (data == NULL || size == 0 || data[size - 1] != 0)
		return (struct texts){ "", 0 };
	return (struct texts){ (const char *)data, size };
}

static void put(napi_env env, napi_value object, const char *name, napi_value value)
{
	napi_set_named_property(env, object, name, value);
}

/* scanNames(roots, skipped, names, memory, maxEntries, maxMilliseconds): lists are texts that end in a NUL */
static napi_value scan_names(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct scan_request request = { .roots = texts_of(&c, 0), .skipped = texts_of(&c, 1), .names = texts_of(&c, 2) };
	struct scan_result result;
	napi_value object;
	request.memory = bytes(&c, 3, &request.memory_size);
	request.max_entries = (uint64_t)integer(&c, 4);
	request.max_milliseconds = (uint64_t)integer(&c, 5);
	scan(&request, &result);
	napi_create_object(env, &object);
	put(env, object, "found", text(env, (char *)result.found.bytes, result.found.size));
	put(env, object, "unlisted", text(env, (char *)result.unlisted.bytes, result.unlisted.size));
	put(env, object, "memory", text(env, (char *)result.memory.bytes, result.memory.size));
	put(env, object, "folders", number(env, (int64_t)result.folders));
	put(env, object, "read", number(env, (int64_t)result.read));
	put(env, object, "complete", number(env, result.complete));
	scan_free(&result);
	return object;
}

napi_status export_scan_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = { { "scanNames", scan_names } };
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
