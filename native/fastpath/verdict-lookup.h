/* Answers a call from the verdict cache. */
#ifndef HERMES_VERDICT_LOOKUP_H
#define HERMES_VERDICT_LOOKUP_H

#include "../protocol/layout.h"
#include "../protocol/verdict-cache.h"
#include "../tracee/cwd-cache.h"

#include <limits.h>
#include <sys/types.h>

struct cpu_sharing;

/* A call that waits at the listener. */
struct notified_call {
	int listener;
	uint64_t id;
	pid_t tid;
	int nr;
	const uint64_t *args;
	struct verdict_cache *cache;
	struct cwd_cache *cwd_cache;
	struct cpu_sharing *sharing; /* NULL where several threads answer */
};

/* What the call's path reaches, resolved before the supervisor asks for it. */
struct resolved_path {
	int known;
	int dirfd;      /* arguments of path_resolve() … */
	int flags;
	ssize_t length; /* … and its result */
	struct pin pin;
	char path[PATH_MAX];
	char name[2 * PATH_MAX];
};

/*
 * Makes the call, now or in a blocking-call thread, if the cache allows it. Returns whether it does. If not, `resolved`
 * may hold what the call's path reaches.
 */
int verdict_cache_answer(const struct notified_call *call, struct resolved_path *resolved);

#endif
