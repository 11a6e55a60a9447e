/*
 * The memory that observed threads write their records to. The tracee creates it, because only then can the tracee map it;
 * we map it too. Each thread finds its part by its gs register, which programs do not use.
 */
#define _GNU_SOURCE
#include "values.h"
#include "../tracee/fd-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include <x86intrin.h>

/* watchBirths(yes): whether new threads and processes are reported before their first instruction */
static napi_value watch_births(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL)
		return NULL;
	c.session->births = integer(&c, 0) != 0;
	return number(env, 0);
}

/* gsBase(tid): of a stopped thread; -1 for an error */
static napi_value gs_base(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	errno = 0;
	long value = ptrace(PTRACE_PEEKUSER, (pid_t)integer(&c, 0), offsetof(struct user_regs_struct, gs_base), 0);
	return number(env, errno ? -1 : value);
}

/* setGsBase(tid, address) */
static napi_value set_gs_base(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	long failed = ptrace(PTRACE_POKEUSER, (pid_t)integer(&c, 0), offsetof(struct user_regs_struct, gs_base),
			     (long)integer(&c, 1));
	return number(env, failed < 0 ? -errno : 0);
}

static void unmap(napi_env env, void *data, void *size)
{
	(void)env;
	munmap(data, (size_t)size);
}

/*
 * mapShared(tid, fd, size): sets the size of a tracee's new memfd and maps it as an ArrayBuffer, or -errno. It is sealed
 * first: a tracee that shrinks it later would kill us with SIGBUS.
 */
static napi_value map_shared(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	napi_value buffer = NULL;
	size_t size = (size_t)integer(&c, 2);
	int fd = copy_tracee_fd((pid_t)integer(&c, 0), (int)integer(&c, 1));
	if (fd < 0)
		return number(env, fd);
	void *memory = MAP_FAILED;
	if (ftruncate(fd, (off_t)size) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int failed = errno;
	close(fd);
	if (memory == MAP_FAILED)
		return number(env, -failed);
	if (napi_create_external_arraybuffer(env, memory, size, unmap, (void *)size, &buffer) != napi_ok) {
		munmap(memory, size);
		return number(env, -ENOMEM);
	}
	return buffer;
}

/* cycles(into): the time stamp counter, and the clock at the same moment; two doubles in a Float64Array */
static napi_value cycles(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	napi_typedarray_type type;
	size_t length = 0;
	void *into = NULL;
	if (napi_get_typedarray_info(env, c.parameters[0], &type, &length, &into, NULL, NULL) != napi_ok ||
	    type != napi_float64_array || length < 2)
		return number(env, -EINVAL);
	struct timespec now;
	uint64_t before = __rdtsc();
	clock_gettime(CLOCK_REALTIME, &now);
	((double *)into)[0] = (double)(before + (__rdtsc() - before) / 2);
	((double *)into)[1] = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	return number(env, 0);
}

napi_status export_ring_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = {
		{ "watchBirths", watch_births }, { "gsBase", gs_base }, { "setGsBase", set_gs_base },
		{ "mapShared", map_shared }, { "cycles", cycles },
	};
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
