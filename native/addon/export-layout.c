/* The offsets and sizes of the memory that C and TypeScript share: a test holds src/kernel/binding/layout.ts against them. */
#define _GNU_SOURCE
#include "values.h"

/* layout(): offsets and sizes by name. Names that begin with "verdict_cache" are of the verdict cache. */
static napi_value layout(napi_env env, napi_callback_info info)
{
	napi_value object;
	(void)info;
	napi_create_object(env, &object);
#define PUT(name, value)                                                        \
	do {                                                                    \
		napi_set_named_property(env, object, name, number(env, value)); \
	} while (0)
#define FIELD_AS(key, kind, field) PUT(key, offsetof(struct kind, field))
#define FIELD(kind, field) FIELD_AS(#kind "." #field, kind, field)
	FIELD(event, kind); FIELD(event, door); FIELD(event, tid); FIELD(event, nr); FIELD(event, args);
	FIELD(event, ip); FIELD(event, sp); FIELD(event, result); FIELD(event, id); FIELD(event, time);
	FIELD(event, peer); FIELD(event, fetched); FIELD(event, slots); FIELD(event, broker); FIELD(event, registers);
	PUT("slot", sizeof(struct slot));
	FIELD(answer, action); FIELD(answer, flags); FIELD(answer, result); FIELD(answer, registers);
	FIELD(answer, signal); FIELD(answer, args); FIELD(answer, write_count); FIELD(answer, writes);
	FIELD(write, kind); FIELD(write, argument); FIELD(write, address); FIELD(write, offset); FIELD(write, length);
	PUT("write", sizeof(struct write)); PUT("answer", ANSWER_OFFSET); PUT("pins", PINS_OFFSET);
	PUT("pin", sizeof(struct pin)); PUT("max_pins", MAX_PINS); PUT("fetch", FETCH_OFFSET);
	PUT("fetch_size", FETCH_SIZE); PUT("reply", REPLY_OFFSET); PUT("reply_size", REPLY_SIZE);
	PUT("buffer", BUFFER_SIZE); PUT("fetch_plan", sizeof(struct fetch_plan)); PUT("max_writes", MAX_WRITES);
	FIELD(plan, magic); FIELD(plan, size); FIELD(plan, flags); FIELD(plan, file); FIELD(plan, directory);
	FIELD(plan, argc); FIELD(plan, argv); FIELD(plan, envc); FIELD(plan, envp); FIELD(plan, filter);
	FIELD(plan, filter_count); FIELD(plan, stdio); FIELD(plan, limit_count); FIELD(plan, kept_count);
	FIELD(plan, kept); FIELD(plan, limits); FIELD(plan, ignored); FIELD(plan, blocked); FIELD(plan, blocking);
	FIELD(plan, fence); FIELD(plan_fence, wanted); FIELD(plan_fence, required); FIELD(plan_fence, mount_count);
	FIELD(plan_fence, mounts); FIELD(plan_fence, path_rule_count); FIELD(plan_fence, path_rules);
	FIELD(plan_fence, port_rule_count); FIELD(plan_fence, port_rules); FIELD(plan_fence, cgroup_count);
	FIELD(plan_fence, cgroups); FIELD(plan_fence, handled_files); FIELD(plan_fence, handled_ports);
	FIELD(plan_fence, scopes); FIELD(plan_fence, mask_count); FIELD(plan_fence, masks);
	FIELD(plan_fence, masks_seen); FIELD(plan_fence, in_force); FIELD(plan_fence, errnos);
	PUT("plan_fence", sizeof(struct plan_fence));
	FIELD_AS("verdict_cache.in_force", verdict_cache, in_force); FIELD_AS("verdict_cache.class_count", verdict_cache, class_count);
	FIELD_AS("verdict_cache.may_share_cpu", verdict_cache, may_share_cpu); FIELD_AS("verdict_cache.generation", verdict_cache, generation);
	FIELD_AS("verdict_cache.classes", verdict_cache, classes); FIELD_AS("verdict_cache.next", verdict_cache, next);
	FIELD_AS("verdict_cache.allowed", verdict_cache, allowed); FIELD_AS("verdict_cache.undecided_execs", verdict_cache, undecided_execs);
	FIELD_AS("verdict_cache.missing", verdict_cache, missing); FIELD_AS("verdict_class.nr", verdict_class, nr);
	FIELD_AS("verdict_class.flags_at", verdict_class, flags_at); FIELD_AS("verdict_class.flags", verdict_class, flags);
	FIELD_AS("verdict_class.dirfd_at", verdict_class, dirfd_at); FIELD_AS("verdict_class.path_at", verdict_class, path_at);
	FIELD_AS("verdict_class.null_at", verdict_class, null_at);
	FIELD_AS("verdict_class.resolve", verdict_class, resolve); FIELD_AS("verdict_class.allows", verdict_class, allows);
	FIELD_AS("verdict_class.answered", verdict_class, answered); PUT("verdict_class", sizeof(struct verdict_class));
	PUT("verdict_cache", offsetof(struct verdict_cache, exec_counter));
	PUT("plan", sizeof(struct plan)); PUT("plan_limit", sizeof(struct plan_limit));
	return object;
}

napi_status export_layout_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = { { "layout", layout } };
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
