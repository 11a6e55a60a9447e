/*
 * The errors that the kernel finds before it looks at a path: invalid flags, modes and sizes, and structures that cannot be
 * read. The kernel itself is asked, in its own order: the call is made once with the caller's arguments, but with an empty
 * path below no folder. So it reaches nothing, and what it says about the rest is true for this kernel.
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../tracee/fd-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* What an argument is, and what takes its place. */
enum part {
	END,
	FOLDER,     /* a folder's descriptor: none */
	PATH,       /* empty */
	NUMBER,     /* the same: flags, a mode, a size */
	RESULT,     /* where a result goes: a buffer of ours */
	DESCRIPTOR, /* a copy of the caller's own */
	TEXT,       /* a string: a copy */
	VALUE,      /* bytes, as many as the next argument says: a copy */
	TIMES_16,   /* a structure of so many bytes: a copy */
	TIMES_32,
	HOW,        /* openat2's structure, whose size is the next argument: what was decided on */
};

static const struct row {
	int nr;
	uint8_t parts[ARGUMENTS];
} ROWS[] = {
	{ SYS_open, { PATH, NUMBER, NUMBER } },
	{ SYS_openat, { FOLDER, PATH, NUMBER, NUMBER } },
	{ SYS_openat2, { FOLDER, PATH, HOW, NUMBER } },
	{ SYS_newfstatat, { FOLDER, PATH, RESULT, NUMBER } },
	{ SYS_statx, { FOLDER, PATH, NUMBER, NUMBER, RESULT } },
	{ SYS_access, { PATH, NUMBER } },
	{ SYS_faccessat, { FOLDER, PATH, NUMBER } },
	{ SYS_faccessat2, { FOLDER, PATH, NUMBER, NUMBER } },
	{ SYS_readlink, { PATH, RESULT, NUMBER } },
	{ SYS_readlinkat, { FOLDER, PATH, RESULT, NUMBER } },
	{ SYS_mknod, { PATH, NUMBER, NUMBER } },
	{ SYS_mknodat, { FOLDER, PATH, NUMBER, NUMBER } },
	{ SYS_unlinkat, { FOLDER, PATH, NUMBER } },
	{ SYS_renameat2, { FOLDER, PATH, FOLDER, PATH, NUMBER } },
	{ SYS_linkat, { FOLDER, PATH, FOLDER, PATH, NUMBER } },
	{ SYS_symlink, { TEXT, PATH } },
	{ SYS_symlinkat, { TEXT, FOLDER, PATH } },
	{ SYS_fchmodat2, { FOLDER, PATH, NUMBER, NUMBER } },
	{ SYS_fchownat, { FOLDER, PATH, NUMBER, NUMBER, NUMBER } },
	{ SYS_truncate, { PATH, NUMBER } },
	{ SYS_utime, { PATH, TIMES_16 } },
	{ SYS_utimes, { PATH, TIMES_32 } },
	{ SYS_futimesat, { FOLDER, PATH, TIMES_32 } },
	{ SYS_utimensat, { FOLDER, PATH, TIMES_32, NUMBER } },
	{ SYS_setxattr, { PATH, TEXT, VALUE, NUMBER, NUMBER } },
	{ SYS_lsetxattr, { PATH, TEXT, VALUE, NUMBER, NUMBER } },
	{ SYS_getxattr, { PATH, TEXT, RESULT, NUMBER } },
	{ SYS_lgetxattr, { PATH, TEXT, RESULT, NUMBER } },
	{ SYS_removexattr, { PATH, TEXT } },
	{ SYS_lremovexattr, { PATH, TEXT } },
	{ SYS_name_to_handle_at, { FOLDER, PATH, RESULT, RESULT, NUMBER } },
	{ SYS_inotify_add_watch, { DESCRIPTOR, PATH, NUMBER } },
};

/* No user memory lies there: the kernel fails with EFAULT if it reads it. */
#define NOWHERE ((uint64_t)-4096)

enum { RESULT_SIZE = 512, PAGE = 4096 };

struct rehearsal {
	const struct on_behalf_call *call;
	const struct row *row;
	uint64_t args[ARGUMENTS];
	uint64_t result[RESULT_SIZE / 8]; /* which stays empty */
	char text[PATH_MAX + 2];
	uint8_t times[32];
	uint8_t *value;
	uint8_t how[PAGE];
	int descriptor;
};

static const struct row *row_of(int nr)
{
	for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
		if (ROWS[i].nr == nr)
			return &ROWS[i];
	return NULL;
}

static uint64_t copy_fixed(struct rehearsal *r, uint64_t at, void *into, size_t size)
{
	if (at == 0)
		return 0;
	return on_behalf_read(r->call, at, into, size) < 0 ? NOWHERE : (uint64_t)(uintptr_t)into;
}

static uint64_t copy_text(struct rehearsal *r, int argument)
{
	int truncated;
	ssize_t length = on_behalf_read_string(r->call, argument, r->text, PATH_MAX, &truncated);
	if (length < 0)
		return NOWHERE;
	if (truncated) /* one that is too long stays too long */
		memset(r->text, 'n', PATH_MAX + 1);
	return (uint64_t)(uintptr_t)r->text;
}

/* A size that the kernel refuses needs no bytes. */
static uint64_t copy_value(struct rehearsal *r, int argument)
{
	uint64_t size = r->call->args[argument + 1];
	if (size == 0 || size > XATTR_SIZE_MAX)
		return 0;
	r->value = malloc(size);
	return r->value == NULL ? NOWHERE : copy_fixed(r, r->call->args[argument], r->value, size);
}

/* The part that was decided on, and behind it what a newer kernel may know. */
static uint64_t copy_how(struct rehearsal *r, int argument)
{
	const struct on_behalf_call *call = r->call;
	uint64_t size = call->args[argument + 1];
	if (size < sizeof(struct open_how) || size > sizeof r->how)
		return 0;
	if (call->how_size < sizeof(struct open_how))
		return NOWHERE;
	memcpy(r->how, call->how, call->how_size);
	uint64_t more = size - call->how_size;
	if (more > 0 && on_behalf_read(call, call->args[argument] + call->how_size, r->how + call->how_size, more) < 0)
		return NOWHERE;
	return (uint64_t)(uintptr_t)r->how;
}

static uint64_t in_place_of(struct rehearsal *r, int argument)
{
	uint64_t given = r->call->args[argument];
	switch ((enum part)r->row->parts[argument]) {
	case FOLDER:
		return (uint64_t)-1;
	case PATH:
		return (uint64_t)(uintptr_t) "";
	case RESULT:
		return (uint64_t)(uintptr_t)r->result;
	case DESCRIPTOR:
		r->descriptor = copy_tracee_fd(r->call->tid, (int)given);
		return (uint64_t)r->descriptor;
	case TEXT:
		return copy_text(r, argument);
	case VALUE:
		return copy_value(r, argument);
	case TIMES_16:
		return copy_fixed(r, given, r->times, 16);
	case TIMES_32:
		return copy_fixed(r, given, r->times, 32);
	case HOW:
		return copy_how(r, argument);
	default:
		return given;
	}
}

/* These say only that there is no such path, or no such folder, which was our doing. A link's empty text is not. */
static int is_our_doing(const struct rehearsal *r, int error)
{
	if (error == ENOENT && r->row->parts[0] == TEXT && r->text[0] == 0)
		return 0;
	return error == ENOENT || (error == EBADF && r->descriptor < 0 && r->row->parts[0] != DESCRIPTOR);
}

static int opens_plainly(uint64_t flags)
{
	const uint64_t both = O_CREAT | O_DIRECTORY, temporary = O_TMPFILE & ~O_DIRECTORY;
	return !(flags & temporary) && (flags & both) != both;
}

/* The calls that are made most have nothing that could be wrong. */
static int is_plain(const struct on_behalf_call *call)
{
	switch (call->nr) {
	case SYS_open:
		return opens_plainly(call->args[1]);
	case SYS_openat:
		return opens_plainly(call->args[2]);
	case SYS_newfstatat:
		return !(call->args[3] & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT));
	case SYS_unlinkat:
		return !(call->args[2] & ~(uint64_t)AT_REMOVEDIR);
	default:
		return 0;
	}
}

/* A NULL in place of the path means the descriptor itself: such a call is about no path. */
static int has_path(const struct rehearsal *r)
{
	for (int i = 0; i < ARGUMENTS; i++)
		if (r->row->parts[i] == PATH)
			return r->call->args[i] != 0;
	return 0;
}

int on_behalf_rehearse(const struct on_behalf_call *call, int64_t *result)
{
	const struct row *row = is_plain(call) ? NULL : row_of(call->nr);
	struct rehearsal *r = row ? calloc(1, sizeof *r) : NULL;
	if (row == NULL)
		return 0;
	*result = -ENOMEM;
	if (r == NULL)
		return 1;
	r->call = call;
	r->row = row;
	r->descriptor = -1;
	int settled = 0;
	if (has_path(r)) {
		for (int i = 0; i < ARGUMENTS; i++)
			r->args[i] = in_place_of(r, i);
		*result = kernel_result(syscall(call->nr, r->args[0], r->args[1], r->args[2], r->args[3], r->args[4], r->args[5]));
		settled = *result >= 0 || !is_our_doing(r, (int)-*result);
	}
	if (r->descriptor >= 0)
		close(r->descriptor);
	free(r->value);
	free(r);
	return settled;
}
