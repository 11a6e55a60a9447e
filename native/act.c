/*
 * On-behalf acts: what was decided is what happens. Paths have become pins, addresses and structures have become
 * copies; nothing here looks again at what the tracee could have changed meanwhile, except at data that nobody decides
 * on, which is read once.
 */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"
#include "standin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the pins must be for the call to be worth making: the error that the kernel gives else, or 0. */
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

static int unmet(const struct pin *pin, int parent)
{
	if (pin->state == PIN_FAILED)
		return -pin->error;
	if (pin->state == PIN_NONE || (!parent && pin->state != PIN_FOUND))
		return pin->state == PIN_NONE ? -EACCES : -ENOENT;
	return 0;
}

static int needs_met(const struct act *act)
{
	int failed = 0;
	switch (need_of(act->nr)) {
	case NEEDS_OBJECT:
		return unmet(&act->pins[0], 0);
	case NEEDS_PARENT:
		return unmet(&act->pins[0], 1);
	case NEEDS_TWO_PARENTS:
		failed = unmet(&act->pins[0], 1);
		return failed ? failed : unmet(&act->pins[1], 1);
	case NEEDS_OBJECT_AND_PARENT:
		failed = unmet(&act->pins[0], 0);
		return failed ? failed : unmet(&act->pins[1], 1);
	default:
		return 0;
	}
}

/* O_TMPFILE holds the bit of O_DIRECTORY, which every listing of a folder has. */
static int flags_create(uint64_t flags)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int creates(const struct act *act)
{
	switch (act->nr) {
	case SYS_mkdir: case SYS_mkdirat: case SYS_mknod: case SYS_mknodat: case SYS_creat: case SYS_bind:
		return 1;
	case SYS_open:
		return flags_create(act->args[1]);
	case SYS_openat:
		return flags_create(act->args[2]);
	case SYS_openat2:
		return 1;
	default:
		return 0;
	}
}

static int checks_real_user(const struct act *act)
{
	return act->nr == SYS_access || act->nr == SYS_faccessat ||
	       (act->nr == SYS_faccessat2 && !(act->args[3] & AT_EACCESS));
}

/* Without them a message would go to whatever its socket is connected to. */
static void keep_addresses(struct act *act, const uint8_t *bytes, uint32_t length)
{
	act->addresses = malloc(length);
	if (act->addresses == NULL) {
		act->failed = -ENOMEM;
		return;
	}
	memcpy(act->addresses, bytes, length);
	act->address_count = length / ADDRESS_SIZE;
}

struct act *act_of(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct act *act = calloc(1, sizeof *act);
	if (act == NULL)
		return NULL;
	act->tid = event->tid;
	act->nr = event->nr;
	for (int i = 0; i < ARGUMENTS; i++)
		act->args[i] = answer->registers & 1u << i ? answer->args[i] : event->args[i];
	act->as_tracee = (answer->flags & ANSWER_AS_TRACEE) != 0;
	act->apart = (answer->flags & ANSWER_APART) != 0;
	act->routed = (answer->flags & ANSWER_ROUTED) != 0;
	act->no_stream = (answer->flags & ANSWER_NO_STREAM) != 0;
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++) {
		const struct write *w = &answer->writes[i];
		if (w->offset > REPLY_SIZE || w->length > REPLY_SIZE - w->offset) {
			act->failed = -EINVAL;
			continue;
		}
		const uint8_t *bytes = s->buffer + REPLY_OFFSET + w->offset;
		if (w->kind == WRITE_HOW) {
			act->how_size = w->length < HOW_SIZE ? w->length : HOW_SIZE;
			memcpy(act->how, bytes, act->how_size);
		} else if (w->kind == WRITE_ADDRESS && act->addresses == NULL) {
			keep_addresses(act, bytes, w->length);
		} else if (w->kind == WRITE_SEEN) {
			act_keep_seen(act, bytes, w->length);
		}
	}
	struct pin *pins = session_pins(s);
	memcpy(act->pins, pins, sizeof act->pins);
	memset(pins, 0, sizeof act->pins);
	act->masks = creates(act) && origin_umask(&s->origins, act->tid, &act->umask) == 0;
	return act;
}

struct act *act_made(pid_t tid, int nr, const uint64_t *args, const struct pin *pin, struct origins *origins)
{
	struct act *act = calloc(1, sizeof *act);
	if (act == NULL)
		return NULL;
	act->tid = tid;
	act->nr = nr;
	memcpy(act->args, args, sizeof act->args);
	act->pins[0] = *pin;
	act->masks = creates(act) && origin_umask(origins, tid, &act->umask) == 0;
	return act;
}

int act_may_block(const struct act *act)
{
	switch (act->nr) {
	case SYS_open: case SYS_openat: case SYS_creat: case SYS_openat2:
		return act_open_may_block(act);
	case SYS_connect: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return act_socket_may_block(act);
	case SYS_fallocate: case SYS_truncate: /* … which waits for whoever has a lease on the file */
		return 1;
	default:
		return 0;
	}
}

int act_has_to_wait(const struct act *act, const struct outcome *outcome)
{
	int opens = act->nr == SYS_open || act->nr == SYS_openat || act->nr == SYS_creat || act->nr == SYS_openat2;
	return opens && act->at_once && outcome->fd < 0 && outcome->result == -EAGAIN;
}

static struct outcome make(struct act *act)
{
	switch (act->nr) {
	case SYS_open: case SYS_openat: case SYS_creat: case SYS_openat2:
		return act_open(act);
	case SYS_connect: case SYS_bind: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return (struct outcome){ .result = act_on_socket(act), .fd = -1 };
	case SYS_fchmod: case SYS_fchown: case SYS_ftruncate: case SYS_fallocate: case SYS_fsetxattr: case SYS_fremovexattr:
	case SYS_ioctl:
		return (struct outcome){ .result = act_on_descriptor(act), .fd = -1 };
	case SYS_pidfd_send_signal:
		return (struct outcome){ .result = act_on_process(act), .fd = -1 };
	default:
		return (struct outcome){ .result = act_on_file(act), .fd = -1 };
	}
}

struct attempt {
	struct act *act;
	struct outcome outcome;
};

static int64_t make_masked(void *argument)
{
	struct attempt *attempt = argument;
	umask(attempt->act->umask);
	attempt->outcome = make(attempt->act);
	return 0;
}

/*
 * What is made has the caller's umask. It must not become the whole process's: where this thread shares it with others
 * (a container's seccomp profile may refuse unshare), another process makes the call.
 */
static struct outcome make_with_umask(struct act *act)
{
	struct attempt attempt = { act, { .fd = -1 } };
	if (!view_is_own()) {
		int64_t failed = standin_make(make_masked, &attempt);
		if (failed)
			attempt.outcome = (struct outcome){ .result = failed, .fd = -1 };
		return attempt.outcome;
	}
	mode_t own = umask(act->umask);
	attempt.outcome = make(act);
	umask(own);
	return attempt.outcome;
}

struct outcome act_make(struct act *act)
{
	struct identity identity;
	struct outcome outcome = { .fd = -1 };
	int failed = act->failed ? act->failed : needs_met(act);
	if (!failed && creates(act) && !act->masks)
		failed = -ESRCH; /* the caller is gone */
	if (!failed && act->as_tracee)
		failed = identity_read(act->tid, &identity);
	if (!failed && act->as_tracee)
		failed = identity_assume(act->tid, &identity, checks_real_user(act));
	if (failed)
		outcome.result = failed;
	else
		outcome = act->masks ? make_with_umask(act) : make(act);
	identity_drop();
	return outcome;
}

int act_truncate(const struct outcome *outcome)
{
	struct identity identity;
	int failed = outcome->as ? identity_read(outcome->as, &identity) : 0;
	if (!failed && outcome->as)
		failed = identity_assume(outcome->as, &identity, 0); /* whoever empties a file may take its set-id bits away */
	if (!failed && ftruncate(outcome->fd, 0) < 0)
		failed = -errno;
	identity_drop();
	return failed;
}

void act_discard(struct act *act)
{
	for (int i = 0; i < MAX_PINS; i++)
		pin_release(&act->pins[i]);
	free(act->addresses);
	free(act->seen);
	free(act);
}
