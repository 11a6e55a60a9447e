/* Looks up a call in the verdict cache, and makes it if it is allowed. */
#define _GNU_SOURCE
#include "verdict-lookup.h"
#include "../kernel/notification.h"
#include "../kernel/procfs.h"
#include "../kernel/thread-fs.h"
#include "../on-behalf/blocking-call.h"
#include "../tracee/memory.h"
#include "../tracee/path.h"
#include "cpu-affinity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int is_of_class(const struct notified_call *call, const struct verdict_class *c)
{
	return c->nr == call->nr && (c->flags_at < 0 || (uint32_t)call->args[c->flags_at % ARGUMENTS] == c->flags) &&
	       (c->path_at < 0 || call->args[c->path_at % ARGUMENTS] != 0) &&
	       (c->null_at < 0 || call->args[c->null_at % ARGUMENTS] == 0);
}

static int class_of(const struct verdict_cache *cache, const struct notified_call *call)
{
	for (uint32_t i = 0; i < cache->class_count && i < VERDICT_CLASSES; i++)
		if (is_of_class(call, &cache->classes[i]))
			return (int)i;
	return -1;
}

static unsigned state_of(const struct verdict_cache *cache, const char *path, size_t length)
{
	unsigned state = VERDICT_START;
	for (size_t i = 0; i < length && state != 0; i++) {
		unsigned char byte = (unsigned char)path[i];
		state = byte < VERDICT_BYTES ? cache->next[state % VERDICT_STATES][byte] : 0;
	}
	return state % VERDICT_STATES;
}

/* Reads the path once. If the cache does not know it, the supervisor decides on its own copy. */
static int take_path(const struct notified_call *call, const struct verdict_class *c, char *path)
{
	int truncated = 0;
	ssize_t length = memory_read_string(call->tid, call->args[c->path_at % ARGUMENTS], path, PATH_MAX, &truncated);
	/* It was read by thread id. If the caller has died, it may be another thread's memory. */
	return length > 0 && !truncated && notification_is_valid(call->listener, call->id);
}

/* A lookup in one generation of the cache. */
struct lookup {
	struct verdict_cache *cache;
	unsigned int generation;
	int class;
};

static int is_current(const struct lookup *lookup)
{
	return atomic_load(&lookup->cache->generation) == lookup->generation;
}

/* The supervisor may clear and refill the cache during a lookup. A result of two generations does not count. */
static int is_allowed(const struct lookup *lookup, const char *name, size_t length)
{
	unsigned state = state_of(lookup->cache, name, length);
	int allowed = state != 0 && lookup->cache->allowed[lookup->class][state];
	atomic_thread_fence(memory_order_acquire);
	return allowed && is_current(lookup);
}

/* ------------------------------------------------------------------ plain opens */

static int opens(int nr)
{
	return nr == SYS_open || nr == SYS_openat || nr == SYS_creat;
}

/* Flags and mode of an open. Returns 0 for those that the slow way has to handle. */
static int wanted_open(const struct notified_call *call, struct open_how *how)
{
	int first = call->nr == SYS_open ? 1 : 2, creates = call->nr == SYS_creat;
	if (!opens(call->nr))
		return 0;
	*how = (struct open_how){ .flags = creates ? O_CREAT | O_WRONLY | O_TRUNC : (uint32_t)call->args[first] };
	if (how->flags & O_CREAT)
		how->mode = call->args[creates ? 1 : first + 1] & 07777;
	int reads_and_empties = how->flags & O_TRUNC && (how->flags & O_ACCMODE) == O_RDONLY;
	return !(how->flags & O_PATH) && (how->flags & O_TMPFILE) != O_TMPFILE && !reads_and_empties;
}

static int is_file_or_folder(const struct stat *info)
{
	return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode);
}

/*
 * Opens or creates a file whose path has no link, so that its name is canonical. Only regular files and folders: opening
 * anything else may block or have side effects. O_TRUNC waits until the caller has its descriptor (on-behalf/answer.c). -1
 * and an errno: the kernel's, or EAGAIN.
 */
static int open_without_links(pid_t tid, int base, const char *path, const struct open_how *wanted, int *truncates)
{
	struct open_how how = { wanted->flags | O_NOCTTY | O_CLOEXEC, wanted->mode, RESOLVE_NO_SYMLINKS };
	struct stat info;
	int exists = fstatat(base, path, &info, AT_SYMLINK_NOFOLLOW) == 0, creates = !exists && wanted->flags & O_CREAT;
	if ((exists && !is_file_or_folder(&info) && !S_ISLNK(info.st_mode)) || (creates && !on_behalf_has_free_fd(tid)))
		return errno = EAGAIN, -1;
	*truncates = exists && wanted->flags & O_TRUNC;
	how.flags &= ~(uint64_t)O_TRUNC;
	how.flags |= creates ? O_EXCL : O_NONBLOCK; /* a file that another process creates now would have to be truncated */
	int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof how);
	if (fd < 0 && errno == EEXIST && !(wanted->flags & O_EXCL))
		errno = EAGAIN;
	if (creates)
		return fd;
	if (fd < 0 || (fstat(fd, &info) == 0 && is_file_or_folder(&info) && !(major(info.st_dev) == 0 && procfs_is(fd)) &&
		       on_behalf_empties(fd, &info, (int)wanted->flags) >= 0 &&
		       (wanted->flags & O_NONBLOCK || fcntl(fd, F_SETFL, (int)wanted->flags) == 0)))
		return fd;
	close(fd);
	return errno = EAGAIN, -1;
}

/*
 * The canonical name of what a path with links reaches, with its NUL. Returns 0 when it reaches nothing, or something
 * without a name.
 */
static int name_behind_links(int base, const char *path, char *real)
{
	int held = open_how(base, path, 0, RESOLVE_NO_MAGICLINKS);
	ssize_t length = held < 0 ? -1 : name_of(held, real, PATH_MAX - 1);
	if (held >= 0)
		close(held);
	real[length > 0 ? length : 0] = 0;
	return length > 0 && real[0] == '/' && path_is_plain(real);
}

/*
 * Returns whether there is an outcome. Only allowed names are opened, without following a link from there. An open may
 * take long, and the policies may change meanwhile: then the supervisor decides, unless the open has changed something
 * already.
 */
static int open_allowed(const struct lookup *lookup, pid_t tid, int base, const char *path, const char *name,
			const struct open_how *wanted, struct outcome *outcome)
{
	char real[PATH_MAX];
	int truncates = 0, allowed = is_allowed(lookup, name, strlen(name));
	int fd = allowed ? open_without_links(tid, base, path, wanted, &truncates) : -1;
	int error = allowed ? errno : ELOOP; /* the cache knows canonical names only */
	if (fd < 0 && error == ELOOP && !(wanted->flags & O_NOFOLLOW) && name_behind_links(base, path, real) &&
	    is_allowed(lookup, real, strlen(real)))
		fd = open_without_links(tid, AT_FDCWD, real, wanted, &truncates);
	if (fd >= 0 && !(wanted->flags & (O_CREAT | O_TRUNC)) && !is_current(lookup)) {
		close(fd);
		return 0;
	}
	*outcome = (struct outcome){ .result = -error, .fd = fd, .fd_flags = (uint32_t)wanted->flags & O_CLOEXEC,
				     .truncates = truncates };
	return fd >= 0 || error == ENOENT;
}

/*
 * Writes the path with the name of the folder it starts from. Returns that folder, AT_FDCWD for none, -1 when it is
 * unknown.
 */
static int full_name(const struct notified_call *call, int dirfd, const char *path, char *name)
{
	if (path[0] == '/') {
		strcpy(name, path);
		return AT_FDCWD;
	}
	int base = cwd_cache_open_dir(call->cwd_cache, call->tid, dirfd);
	ssize_t length = base < 0 ? -1 : cwd_cache_name_dir(call->cwd_cache, base, name, PATH_MAX);
	if (length > 0 && name[0] == '/') {
		if (length > 1)
			name[length++] = '/';
		strcpy(name + length, path); /* each is shorter than PATH_MAX */
		return base;
	}
	if (base >= 0)
		close(base);
	return -1;
}

/* The thread keeps it: most files are created with the same one. */
static void set_umask(mode_t mask)
{
	static __thread mode_t in_force = (mode_t)-1;
	if (in_force != mask)
		umask(mask);
	in_force = mask;
}

/* For plain opens. Returns whether the call is answered. */
static int answer_plain_open(const struct notified_call *call, const struct lookup *lookup, int dirfd, const char *asked)
{
	char name[2 * PATH_MAX], path[PATH_MAX];
	struct outcome outcome;
	struct open_how wanted;
	mode_t mask = 0;
	if (!path_without_dots(asked, path) || !wanted_open(call, &wanted) || (wanted.flags & O_CREAT && !thread_fs_is_own()))
		return 0;
	if (wanted.flags & O_CREAT && cwd_cache_umask(call->cwd_cache, call->tid, &mask) < 0)
		return 0;
	int base = full_name(call, dirfd, path, name);
	if (wanted.flags & O_CREAT)
		set_umask(mask);
	int answered = base != -1 && open_allowed(lookup, call->tid, base, path, name, &wanted, &outcome);
	if (answered && outcome.fd >= 0 && call->sharing)
		cpu_sharing_before_descriptor(call->sharing, call->tid);
	if (base >= 0)
		close(base); /* before the caller goes on: it may be a copy of the caller's own descriptor */
	if (answered)
		on_behalf_answer(call->listener, NULL, call->id, &outcome);
	return answered;
}

/* ------------------------------------------------------------------ plain changes of folders */

static int changes_entry(int nr)
{
	return nr == SYS_mkdir || nr == SYS_mkdirat || nr == SYS_unlink || nr == SYS_unlinkat || nr == SYS_rmdir;
}

static int change_entry(const struct notified_call *call, int folder, const char *name)
{
	switch (call->nr) {
	case SYS_mkdir:
		return mkdirat(folder, name, (mode_t)call->args[1]);
	case SYS_mkdirat:
		return mkdirat(folder, name, (mode_t)call->args[2]);
	default:
		return unlinkat(folder, name, call->nr == SYS_unlinkat ? (int)call->args[2] : call->nr == SYS_rmdir ? AT_REMOVEDIR : 0);
	}
}

/* Returns whether there is an outcome. No link is followed: the folder's name is canonical, and the entry itself changes. */
static int change_without_links(const struct notified_call *call, int base, char *path, struct outcome *outcome)
{
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int folder = base;
	if (slash) {
		name[-1] = 0;
		folder = open_how(base, slash == path ? "/" : path, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	}
	int done = folder < 0 && slash ? -1 : change_entry(call, folder, name), error = errno;
	if (slash && folder >= 0)
		close(folder);
	*outcome = (struct outcome){ .result = done < 0 ? -error : 0, .fd = -1 };
	return folder >= 0 || !slash || error == ENOENT;
}

/* For plain changes of entries. Returns whether the call is answered. */
static int answer_plain_entry(const struct notified_call *call, const struct lookup *lookup, int dirfd, const char *asked)
{
	char name[2 * PATH_MAX], path[PATH_MAX];
	struct outcome outcome;
	mode_t mask = 0;
	if (!changes_entry(call->nr) || !path_without_dots(asked, path))
		return 0;
	int makes = call->nr == SYS_mkdir || call->nr == SYS_mkdirat;
	if (makes && (!thread_fs_is_own() || cwd_cache_umask(call->cwd_cache, call->tid, &mask) < 0))
		return 0;
	int base = full_name(call, dirfd, path, name);
	if (makes)
		set_umask(mask);
	int answered = base != -1 && is_allowed(lookup, name, strlen(name)) && change_without_links(call, base, path, &outcome);
	if (base >= 0)
		close(base);
	if (answered)
		on_behalf_answer(call->listener, NULL, call->id, &outcome);
	return answered;
}

/* ------------------------------------------------------------------ all other calls */

/* Makes the call on behalf, on the pinned object. */
static int make(const struct notified_call *call, const struct pin *pin)
{
	struct on_behalf_call *on_behalf = on_behalf_new(call->tid, call->nr, call->args, pin, call->cwd_cache);
	if (on_behalf == NULL) {
		struct pin own = *pin;
		pin_release(&own);
		return 0;
	}
	on_behalf_serve(call->listener, NULL, call->id, on_behalf);
	return 1;
}

/* Resolves the path as the caller would. */
static void resolve_path(const struct notified_call *call, const struct verdict_class *c, int differs,
			 struct resolved_path *resolved)
{
	resolved->dirfd = c->dirfd_at < 0 ? AT_FDCWD : (int)call->args[c->dirfd_at % ARGUMENTS];
	resolved->flags = (int)c->resolve;
	resolved->length = path_resolve(call->tid, resolved->dirfd, resolved->path, resolved->flags | resolve_flags(differs),
					&resolved->pin, resolved->name, sizeof resolved->name);
	resolved->known = 1;
}

/* The object is pinned, and its canonical name is looked up. */
static int answer_on_behalf(const struct notified_call *call, const struct lookup *lookup, struct resolved_path *resolved)
{
	struct stat info;
	const struct pin *pin = &resolved->pin;
	const char *name = resolved->length == PATH_AS_ASKED ? resolved->path : resolved->name;
	if (resolved->length < 0 ||
	    !is_allowed(lookup, name, resolved->length == PATH_AS_ASKED ? strlen(name) : (size_t)resolved->length))
		return 0;
	int may_wait = pin->state == PIN_FOUND && (fstat(pin->object, &info) < 0 || !is_file_or_folder(&info));
	if (may_wait && call->sharing)
		cpu_sharing_stop(call->sharing); /* a blocking-call thread makes it, and must run on any CPU */
	else if (opens(call->nr) && call->sharing)
		cpu_sharing_before_descriptor(call->sharing, call->tid);
	resolved->known = 0;
	return make(call, pin);
}

/* The descriptor is pinned, and its name is looked up. */
static int answer_on_descriptor(const struct notified_call *call, const struct lookup *lookup, int fd)
{
	char name[PATH_MAX];
	struct pin pin;
	int object = fd < 0 ? -1 : cwd_cache_open_dir(call->cwd_cache, call->tid, fd);
	ssize_t length = object < 0 ? -1 : raw_name_of(object, name, sizeof name);
	if (length <= 0 || length == sizeof name || name[0] != '/' || !is_allowed(lookup, name, (size_t)length)) {
		if (object >= 0)
			close(object);
		return 0;
	}
	pin_hold(&pin, object);
	return make(call, &pin);
}

static int answer(const struct notified_call *call, const struct lookup *lookup, int differs, int cached,
		  struct resolved_path *resolved)
{
	const struct verdict_class *c = &call->cache->classes[lookup->class];
	int dirfd = c->dirfd_at < 0 ? AT_FDCWD : (int)call->args[c->dirfd_at % ARGUMENTS];
	if (c->path_at < 0)
		return cached && answer_on_descriptor(call, lookup, dirfd);
	if (!take_path(call, c, resolved->path))
		return 0;
	if (cached && (answer_plain_open(call, lookup, dirfd, resolved->path) ||
		       answer_plain_entry(call, lookup, dirfd, resolved->path)))
		return 1;
	resolve_path(call, c, differs, resolved);
	return cached && answer_on_behalf(call, lookup, resolved);
}

int verdict_cache_answer(const struct notified_call *call, struct resolved_path *resolved)
{
	struct lookup lookup = { call->cache, atomic_load(&call->cache->generation), class_of(call->cache, call) };
	resolved->known = 0;
	if (lookup.class < 0)
		return 0;
	int differs = cwd_cache_differences(call->cwd_cache, call->tid, DIFFERENT_ANY);
	int cached = differs == 0 && atomic_load(&call->cache->in_force) && lookup.generation % 2 == 0 &&
		     call->cache->classes[lookup.class].allows;
	int answered = answer(call, &lookup, differs, cached, resolved);
	call->cache->classes[lookup.class].answered += (unsigned int)answered;
	return answered;
}
