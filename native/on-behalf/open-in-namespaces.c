/*
 * Files whose content depends on the namespaces of the process that opens them: devices, kernel settings, control groups.
 * They are opened in the caller's namespaces, or not at all.
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../kernel/procfs.h"
#include "../tracee/identity.h"
#include "../tracee/path.h"

#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* The namespaces that a single thread can enter. */
static const char *const JOINED[] = { "net", "ipc", "uts", "cgroup" };
enum { KINDS = sizeof JOINED / sizeof JOINED[0] };
enum { MEMORY = 1, CONSOLES = 4, TERMINALS = 5, FIRST_PTY = 136, LAST_PTY = 143 };

/*
 * In /proc, wherever that is mounted. `fixed` is a namespace that a thread cannot enter: if the caller's differs, the file
 * is not opened.
 */
static const struct setting {
	const char *part;
	const char *fixed;
	int writing;
} SETTINGS[] = {
	{ "/sys/net/", NULL, 0 },	     { "/sys/fs/mqueue/", NULL, 0 },  { "/sys/kernel/msg", NULL, 0 },
	{ "/sys/kernel/sem", NULL, 0 },	     { "/sys/kernel/shm", NULL, 0 },  { "/sys/kernel/auto_msgmni", NULL, 0 },
	{ "/sysvipc/", NULL, 0 },	     { "/keys", NULL, 0 },	      { "/key-users", NULL, 0 },
	{ "/fs/nfs", NULL, 0 },		     { "/sys/user/", "user", 0 },     { "/sys/kernel/pid_max", "pid", 1 },
	{ "/sys/kernel/ns_last_pid", "pid", 1 }, { "/sys/kernel/cad_pid", "pid", 1 },
};

static int is_of_namespaces(const struct stat *info)
{
	unsigned int kind = major(info->st_rdev);
	return S_ISCHR(info->st_mode) && kind != MEMORY && kind != CONSOLES && kind != TERMINALS &&
	       !(kind >= FIRST_PTY && kind <= LAST_PTY);
}

static const struct setting *setting_of(const char *name, int writes)
{
	for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
		if (strstr(name, SETTINGS[i].part) != NULL && (writes || !SETTINGS[i].writing))
			return &SETTINGS[i];
	return NULL;
}

struct special {
	int object;
	dev_t device;
	const struct setting *setting; /* NULL: not in /proc */
	char name[PATH_MAX];
};

/* Whether the object is such a file. In doubt it is. */
static int is_special(int object, int flags, struct special *s)
{
	struct stat info;
	struct statfs system;
	int writes = (flags & O_ACCMODE) != O_RDONLY;
	memset(s, 0, sizeof *s);
	s->object = object;
	if (fstat(object, &info) < 0 || fstatfs(object, &system) < 0)
		return 1;
	s->device = info.st_dev;
	if (system.f_type == CGROUP_SUPER_MAGIC || system.f_type == CGROUP2_SUPER_MAGIC)
		return writes;
	if (system.f_type != PROC_SUPER_MAGIC)
		return is_of_namespaces(&info);
	ssize_t length = name_of(object, s->name, sizeof s->name - 1);
	s->name[length < 0 ? 0 : length] = 0;
	s->setting = setting_of(s->name, writes);
	return s->setting != NULL || length < 0;
}

/* ------------------------------------------------------------------ going there and back */

/*
 * Our own, opened before any thread leaves them. /proc/self does not tell, because it shows the main thread, which may
 * have left them.
 */
static int home[KINDS] = { -1, -1, -1, -1 };

static void open_home(void)
{
	char what[16];
	for (int i = 0; i < KINDS; i++) {
		snprintf(what, sizeof what, "ns/%s", JOINED[i]);
		home[i] = procfs_open((pid_t)syscall(SYS_gettid), what, O_RDONLY);
	}
}

void on_behalf_remember_namespaces(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_home);
}

static int join(pid_t tid, int kind)
{
	char what[16];
	if (home[kind] < 0)
		return -1;
	snprintf(what, sizeof what, "ns/%s", JOINED[kind]);
	int fd = procfs_open(tid, what, O_RDONLY), failed = fd < 0 || setns(fd, 0) < 0;
	if (fd >= 0)
		close(fd);
	return failed ? -1 : 0;
}

/*
 * Uses our own identity. Returns whether all namespaces that differ could be entered; `entered` has a bit for each of
 * them.
 */
static int enter(pid_t tid, const struct special *s, int *entered)
{
	if (s->setting && s->setting->fixed && !identity_shares(tid, s->setting->fixed))
		return 0;
	for (int i = 0; i < KINDS; i++) {
		if (identity_shares(tid, JOINED[i]))
			continue;
		if (join(tid, i) < 0)
			return 0;
		*entered |= 1 << i;
	}
	return 1;
}

static void come_back(int entered)
{
	for (int i = 0; i < KINDS; i++)
		if (entered & 1 << i && setns(home[i], 0) < 0)
			abort(); /* a thread in the wrong namespaces must not go on */
}

/* ------------------------------------------------------------------ opening */

/* The top of the /proc that a file is in. Opened before the caller's rights are assumed. */
static int proc_of(pid_t tid, dev_t device)
{
	struct stat info;
	for (int i = 0; i < 2; i++) {
		int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
		int fd = i == 0 ? fcntl(procfs_dir(), F_DUPFD_CLOEXEC, 3) : procfs_open(tid, "root/proc", flags);
		if (fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == device)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	errno = EACCES;
	return -1;
}

/* A setting belongs to the namespace in which its name was looked up, so it is looked up again. That name has no link. */
static int open_setting(int proc, const struct special *s, int flags)
{
	char name[PATH_MAX];
	struct stat info;
	int fd = openat(proc, strstr(s->name, s->setting->part) + 1, flags | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	ssize_t length = name_of(fd, name, sizeof name - 1);
	name[length < 0 ? 0 : length] = 0;
	if (fstat(fd, &info) == 0 && info.st_dev == s->device && strcmp(name, s->name) == 0)
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

static int open_there(int proc, const struct special *s, int flags)
{
	char number[16];
	if (s->setting)
		return open_setting(proc, s, flags);
	snprintf(number, sizeof number, "%d", s->object);
	return openat(own_fds(), number, flags);
}

int on_behalf_open_in_namespaces(const struct on_behalf_call *call, int object, int flags, int *fd)
{
	struct special s;
	if (!(call->other_root || call->as_tracee) || !is_special(object, flags, &s))
		return 0;
	identity_pause();
	int entered = 0, proc = s.setting ? proc_of(call->tid, s.device) : -1;
	int there = (!s.setting || proc >= 0) && enter(call->tid, &s, &entered);
	there = identity_resume() == 0 && there;
	*fd = there ? open_there(proc, &s, flags) : -1;
	int error = there ? errno : EACCES;
	identity_pause();
	come_back(entered);
	if (proc >= 0)
		close(proc);
	if (identity_resume() < 0 && *fd >= 0) {
		close(*fd);
		*fd = -1;
		error = EACCES;
	}
	errno = error;
	return 1;
}
