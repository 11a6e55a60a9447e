/*
 * On-behalf calls: what was decided is what happens. Paths have become pins; addresses and structures have become copies.
 * Nothing here reads again what the tracee may have changed meanwhile, except data that no policy decides on, which is
 * read once.
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../kernel/thread-fs.h"
#include "../tracee/identity.h"
#include "../tracee/path.h"
#include "proxy-process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The pins that a call needs. Without them it fails with the error that the kernel would give. */
enum need { NEEDS_NOTHING, NEEDS_OBJECT, NEEDS_PARENT, NEEDS_TWO_PARENTS, NEEDS_OBJECT_AND_PARENT };

static enum need need_of(int nr)
{
	switch (nr) {
	case SYS_mkdir: case SYS_mkdirat: case SYS_mknod: case SYS_mknodat: case SYS_unlink: case SYS_unlinkat:
	case SYS_rmdir: case SYS_symlink: case SYS_symlinkat:
		return NEEDS_PARENT;
	case SYS_rename: case SYS_renameat: case SYS_renameat2:
		return NEEDS_TWO_PARENTS;
	case SYS_link: case SYS_linkat:
		return NEEDS_OBJECT_AND_PARENT;
	case SYS_open: case SYS_openat: case SYS_openat2: case SYS_creat:
	case SYS_connect: case SYS_bind: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
	case SYS_setrlimit: case SYS_prlimit64:
		return NEEDS_NOTHING;
	default:
		return NEEDS_OBJECT;
	}
}

static int pin_error(const struct pin *pin, int parent)
{
	if (pin->state == PIN_FAILED)
		return -pin->error;
	if (pin->state == PIN_NONE || (!parent && pin->state != PIN_FOUND))
		return pin->state == PIN_NONE ? -EACCES : -ENOENT;
	return 0;
}

static int needs_met(const struct on_behalf_call *call)
{
	int failed = 0;
	switch (need_of(call->nr)) {
	case NEEDS_OBJECT:
		return pin_error(&call->pins[0], 0);
	case NEEDS_PARENT:
		return pin_error(&call->pins[0], 1);
	case NEEDS_TWO_PARENTS:
		failed = pin_error(&call->pins[0], 1);
		return failed ? failed : pin_error(&call->pins[1], 1);
	case NEEDS_OBJECT_AND_PARENT:
		failed = pin_error(&call->pins[0], 0);
		return failed ? failed : pin_error(&call->pins[1], 1);
	default:
		return 0;
	}
}

/* O_TMPFILE includes the bit of O_DIRECTORY, which every listing of a folder has. */
static int flags_create(uint64_t flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int creates(const struct on_behalf_call *call)
{
	switch (call->nr) {
	case SYS_mkdir: case SYS_mkdirat: case SYS_mknod: case SYS_mknodat: case SYS_creat: case SYS_bind:
		return 1;
	case SYS_open:
		return flags_create(call->args[1]);
	case SYS_openat:
		return flags_create(call->args[2]);
	case SYS_openat2:
		return 1;
	default:
		return 0;
	}
}

static int checks_real_user(const struct on_behalf_call *call)
{
	return call->nr == SYS_access || call->nr == SYS_faccessat ||
	       (call->nr == SYS_faccessat2 && !(call->args[3] & AT_EACCESS));
}

struct on_behalf_call *on_behalf_new(pid_t tid, int nr, const uint64_t *args, const struct pin *pin, struct cwd_cache *cache)
{
	struct on_behalf_call *call = calloc(1, sizeof *call);
	if (call == NULL)
		return NULL;
	call->tid = tid;
	call->nr = nr;
	memcpy(call->args, args, sizeof call->args);
	call->pins[0] = *pin;
	on_behalf_take_umask(call, cache);
	return call;
}

void on_behalf_take_umask(struct on_behalf_call *call, struct cwd_cache *cache)
{
	call->sets_umask = creates(call) && cwd_cache_umask(cache, call->tid, &call->umask) == 0;
}

int on_behalf_may_block(const struct on_behalf_call *call)
{
	switch (call->nr) {
	case SYS_open: case SYS_openat: case SYS_creat: case SYS_openat2:
		return on_behalf_open_may_block(call);
	case SYS_connect: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return on_behalf_socket_may_block(call);
	case SYS_fallocate: case SYS_truncate: /* … which waits for the holder of a lease on the file */
		return 1;
	default:
		return 0;
	}
}

int on_behalf_must_wait(const struct on_behalf_call *call, const struct outcome *outcome)
{
	int opens = call->nr == SYS_open || call->nr == SYS_openat || call->nr == SYS_creat || call->nr == SYS_openat2;
	return opens && call->no_wait && outcome->fd < 0 && outcome->result == -EAGAIN;
}

static struct outcome make(struct on_behalf_call *call)
{
	switch (call->nr) {
	case SYS_open: case SYS_openat: case SYS_creat: case SYS_openat2:
		return on_behalf_open(call);
	case SYS_connect: case SYS_bind: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return (struct outcome){ .result = on_behalf_socket(call), .fd = -1 };
	case SYS_fchmod: case SYS_fchown: case SYS_ftruncate: case SYS_fallocate: case SYS_fsetxattr: case SYS_fremovexattr:
	case SYS_ioctl:
		return (struct outcome){ .result = on_behalf_descriptor(call), .fd = -1 };
	case SYS_pidfd_send_signal:
		return (struct outcome){ .result = on_behalf_signal(call), .fd = -1 };
	default:
		return (struct outcome){ .result = on_behalf_file(call), .fd = -1 };
	}
}

struct attempt {
	struct on_behalf_call *call;
	struct outcome outcome;
};

static int64_t make_masked(void *argument)
{
	struct attempt *attempt = argument;
	umask(attempt->call->umask);
	attempt->outcome = make(attempt->call);
	return 0;
}

/*
 * A new file gets the caller's umask. It must not become the umask of the whole process. Where this thread shares its
 * umask with other threads (thread-fs.h), a proxy process makes the call.
 */
static struct outcome make_with_umask(struct on_behalf_call *call)
{
	struct attempt attempt = { call, { .fd = -1 } };
	if (!thread_fs_is_own()) {
		int64_t failed = proxy_process_run(make_masked, &attempt);
		if (failed)
			attempt.outcome = (struct outcome){ .result = failed, .fd = -1 };
		return attempt.outcome;
	}
	mode_t own = umask(call->umask);
	attempt.outcome = make(call);
	umask(own);
	return attempt.outcome;
}

struct outcome on_behalf_make(struct on_behalf_call *call)
{
	struct identity identity;
	struct outcome outcome = { .fd = -1 };
	int64_t known = call->failed;
	if (known || on_behalf_rehearse(call, &known))
		return (struct outcome){ .result = known, .fd = -1 };
	int failed = needs_met(call);
	if (!failed && creates(call) && !call->sets_umask)
		failed = -ESRCH; /* the caller has ended */
	if (!failed && call->as_tracee)
		failed = identity_read(call->tid, &identity);
	if (!failed && call->as_tracee)
		failed = identity_assume(call->tid, &identity, checks_real_user(call));
	if (failed)
		outcome.result = failed;
	else
		outcome = call->sets_umask ? make_with_umask(call) : make(call);
	identity_drop();
	return outcome;
}

int on_behalf_truncate(const struct outcome *outcome)
{
	struct identity identity;
	int failed = outcome->as ? identity_read(outcome->as, &identity) : 0;
	if (!failed && outcome->as)
		failed = identity_assume(outcome->as, &identity, 0); /* its rights decide whether set-id bits are cleared */
	if (!failed && ftruncate(outcome->fd, 0) < 0)
		failed = -errno;
	identity_drop();
	return failed;
}

void on_behalf_free(struct on_behalf_call *call)
{
	for (int i = 0; i < MAX_PINS; i++)
		pin_release(&call->pins[i]);
	free(call->addresses);
	free(call->snapshot);
	free(call);
}
