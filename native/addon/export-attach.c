/* The functions by which TypeScript attaches to a process and detaches from it. */
#define _GNU_SOURCE
#include "values.h"
#include "../session/keeper-client.h"

#include <errno.h>

/* attach(pid, flags, filter, stops, note, keeper, launcherPath): the process's pid, or -(step * 4096 + errno) */
static napi_value attach(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char launcher[4096];
	size_t stops_size, length;
	struct attach_order order = { .pid = (pid_t)integer(&c, 0), .flags = (int)integer(&c, 1),
				      .keeper = (pid_t)integer(&c, 5), .launcher = launcher };
	if (need_session(&c) == NULL)
		return NULL;
	order.filter = bytes(&c, 2, &order.filter_size);
	order.stops = bytes(&c, 3, &stops_size);
	order.note = bytes(&c, 4, &order.note_size);
	if (order.stops == NULL || stops_size != MAX_SYSCALL / 8 ||
	    napi_get_value_string_utf8(env, c.parameters[6], launcher, sizeof launcher, &length) != napi_ok) {
		napi_throw_error(env, NULL, "attach() takes the calls that stop, a bit for each, and the launcher's path");
		return NULL;
	}
	int failed = session_attach(c.session, &order);
	return number(env, failed < 0 ? failed : order.pid);
}

/* detach(): begins to detach; next() reports when that is done */
static napi_value detach(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL)
		return NULL;
	c.session->wants_to_leave = c.session->attached && !c.session->leaving;
	return number(env, 0);
}

/* keptNote(keeper, into): the length of the note that an earlier HERMES left with its keeper, or -errno */
static napi_value note_of_keeper(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *into = bytes(&c, 1, &size);
	return number(env, into == NULL ? -EINVAL : keeper_note((pid_t)integer(&c, 0), (char *)into, size));
}

napi_status export_attach_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = {
		{ "attach", attach }, { "detach", detach }, { "keptNote", note_of_keeper },
	};
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
