/* Parameters and results of the functions that TypeScript calls. */
#ifndef HERMES_VALUES_H
#define HERMES_VALUES_H

#include "../session/session.h"

#include <node_api.h>
#include <stdbool.h>

enum { MAX_PARAMETERS = 8, TEXT_SIZE = 8192 };

struct call {
	napi_env env;
	napi_value parameters[MAX_PARAMETERS];
	struct session *session;
};

static inline struct call open_call(napi_env env, napi_callback_info info)
{
	struct call c = { .env = env };
	size_t count = MAX_PARAMETERS;
	napi_get_cb_info(env, info, &count, c.parameters, NULL, NULL);
	napi_get_instance_data(env, (void **)&c.session);
	return c;
}

static inline napi_value number(napi_env env, int64_t value)
{
	napi_value result = NULL;
	napi_create_int64(env, value, &result);
	return result;
}

static inline int64_t integer(struct call *c, int i)
{
	int64_t value = 0;
	napi_get_value_int64(c->env, c->parameters[i], &value);
	return value;
}

static inline uint64_t word(struct call *c, int i)
{
	uint64_t value = 0;
	bool lossless;
	napi_get_value_bigint_uint64(c->env, c->parameters[i], &value, &lossless);
	return value;
}

static inline napi_value text(napi_env env, const char *from, size_t length)
{
	napi_value result = NULL;
	void *data;
	napi_create_buffer_copy(env, length, from, &data, &result);
	return result;
}

static inline uint8_t *bytes(struct call *c, int i, size_t *size)
{
	void *data = NULL;
	napi_typedarray_type type;
	size_t length = 0;
	*size = 0;
	if (napi_get_typedarray_info(c->env, c->parameters[i], &type, &length, &data, NULL, NULL) != napi_ok ||
	    type != napi_uint8_array)
		return NULL;
	*size = length;
	return data;
}

static inline struct session *need_session(struct call *c)
{
	if (c->session == NULL)
		napi_throw_error(c->env, NULL, "no session was created in this thread");
	return c->session;
}

/* Each is in the file of its name. */
napi_status export_attach_functions(napi_env env, napi_value exports);
napi_status export_layout_functions(napi_env env, napi_value exports);
napi_status export_pin_functions(napi_env env, napi_value exports);
napi_status export_process_functions(napi_env env, napi_value exports);
napi_status export_resident_functions(napi_env env, napi_value exports);
napi_status export_ring_functions(napi_env env, napi_value exports);
napi_status export_scan_functions(napi_env env, napi_value exports);
napi_status export_socket_functions(napi_env env, napi_value exports);
napi_status export_tracee_functions(napi_env env, napi_value exports);

struct exported {
	const char *name;
	napi_callback function;
};

napi_status export_functions(napi_env env, napi_value exports, const struct exported *list, size_t count);

#endif
