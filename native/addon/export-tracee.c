/* The functions that read and change a stopped tracee. */
#define _GNU_SOURCE
#include "values.h"
#include "../doors/doors.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

/* watchSignals(mask as a bigint): bit n - 1: signal n becomes an event before the program gets it */
static napi_value watch_signals(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL)
		return NULL;
	c.session->signals = word(&c, 0);
	return number(env, 0);
}

/* registers(tid, into): struct user_regs_struct of a stopped tracee; 0 or -errno */
static napi_value registers(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *into = bytes(&c, 1, &size);
	if (into == NULL || size < sizeof(struct user_regs_struct))
		return number(env, -EINVAL);
	return number(env, instrument_registers((pid_t)integer(&c, 0), into));
}

/* setRegisters(tid, from) */
static napi_value set_registers(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *from = bytes(&c, 1, &size);
	if (need_session(&c) == NULL)
		return NULL;
	if (from == NULL || size < sizeof(struct user_regs_struct))
		return number(env, -EINVAL);
	return number(env, instrument_set_registers(c.session, (pid_t)integer(&c, 0), from));
}

static napi_value floating(napi_env env, napi_callback_info info, int request)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *place = bytes(&c, 1, &size);
	if (place == NULL || size < sizeof(struct user_fpregs_struct))
		return number(env, -EINVAL);
	return number(env, ptrace(request, (pid_t)integer(&c, 0), 0, place) < 0 ? -errno : 0);
}

/* floats(tid, into): struct user_fpregs_struct, whose xmm registers begin at 160 */
static napi_value floats(napi_env env, napi_callback_info info)
{
	return floating(env, info, PTRACE_GETFPREGS);
}

/* setFloats(tid, from) */
static napi_value set_floats(napi_env env, napi_callback_info info)
{
	return floating(env, info, PTRACE_SETFPREGS);
}

/* store(tid, address, bytes): writes to read-only memory too; 0 or -errno */
static napi_value store_bytes(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *from = bytes(&c, 2, &size);
	return number(env, from == NULL ? -EINVAL : instrument_store((pid_t)integer(&c, 0), word(&c, 1), from, size));
}

/*
 * patch(tid, addresses as the bytes of a BigUint64Array, values): writes one byte to each; how many were written, or
 * -errno
 */
static napi_value patch(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size, count;
	uint8_t *addresses = bytes(&c, 1, &size), *values = bytes(&c, 2, &count);
	if (addresses == NULL || values == NULL || size != count * sizeof(uint64_t) || (uintptr_t)addresses % 8 != 0)
		return number(env, -EINVAL);
	return number(env, instrument_patch((pid_t)integer(&c, 0), (const uint64_t *)(void *)addresses, values, count));
}

/* cpuid(leaf, subleaf, into): eax, ebx, ecx and edx on this machine */
static napi_value cpuid(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	uint32_t results[4];
	size_t size;
	uint8_t *into = bytes(&c, 2, &size);
	if (into == NULL || size < sizeof results)
		return number(env, -EINVAL);
	instruction_cpuid((uint32_t)integer(&c, 0), (uint32_t)integer(&c, 1), results);
	memcpy(into, results, sizeof results);
	return number(env, 0);
}

/* call(tid, address of a syscall instruction, number and six arguments as the bytes of a BigUint64Array): its result */
static napi_value make_call(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *what = bytes(&c, 2, &size);
	if (need_session(&c) == NULL)
		return NULL;
	if (what == NULL || size != 7 * sizeof(uint64_t) || (uintptr_t)what % 8 != 0)
		return number(env, -EINVAL);
	return number(env, instrument_call(c.session, (pid_t)integer(&c, 0), word(&c, 1), (const uint64_t *)(void *)what));
}

static napi_value same(napi_env env, napi_callback_info info, int what)
{
	struct call c = open_call(env, info);
	long order = syscall(SYS_kcmp, (pid_t)integer(&c, 0), (pid_t)integer(&c, 1), what, 0, 0);
	return number(env, order < 0 ? -errno : order == 0);
}

/* sameMemory(tid, other): 1, 0 or -errno */
static napi_value same_memory(napi_env env, napi_callback_info info)
{
	return same(env, info, KCMP_VM);
}

/* sameDescriptors(tid, other): 1, 0 or -errno */
static napi_value same_descriptors(napi_env env, napi_callback_info info)
{
	return same(env, info, KCMP_FILES);
}

napi_status export_tracee_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = {
		{ "watchSignals", watch_signals }, { "registers", registers }, { "setRegisters", set_registers },
		{ "floats", floats }, { "setFloats", set_floats }, { "store", store_bytes }, { "cpuid", cpuid },
		{ "patch", patch }, { "call", make_call }, { "sameMemory", same_memory }, { "sameDescriptors", same_descriptors },
	};
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
