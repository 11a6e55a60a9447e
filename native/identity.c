/*
 * Acting as a tracee. Linux keeps credentials per thread; the C library hides that by changing all threads at once,
 * so these are bare system calls, and only the thread that acts becomes somebody else.
 */
#define _GNU_SOURCE
#include "identity.h"
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kept while acting, because they are the way back. None of them opens a file. */
static const uint64_t WAY_BACK = 1ull << CAP_SETUID | 1ull << CAP_SETGID;

static const char *line_of(const char *status, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = status; at != NULL && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && at[length] == ':')
			return at + length + 1;
	return NULL;
}

static uint64_t hex_of(const char *status, const char *name)
{
	const char *line = line_of(status, name);
	return line == NULL ? 0 : strtoull(line, NULL, 16);
}

static long last_number(const char *line)
{
	long value = 0;
	char *end;
	for (;;) {
		long next = strtol(line, &end, 10);
		if (end == line)
			return value;
		value = next;
		line = end;
		if (*line == '\n')
			return value;
	}
}

static int read_status(pid_t tid, char *status, size_t size)
{
	ssize_t length = proc_text(tid, "status", status, size);
	return length > 0 ? 0 : length < 0 ? (int)length : -ESRCH;
}

int identity_umask_in(const char *status, mode_t *mask)
{
	const char *line = line_of(status, "Umask");
	if (line == NULL)
		return -EIO;
	*mask = (mode_t)strtoul(line, NULL, 8);
	return 0;
}

int identity_read(pid_t tid, struct identity *identity)
{
	char status[8192];
	int failed = read_status(tid, status, sizeof status);
	if (failed)
		return failed;
	memset(identity, 0, sizeof *identity);
	const char *uid = line_of(status, "Uid"), *gid = line_of(status, "Gid"), *groups = line_of(status, "Groups"),
		   *mask = line_of(status, "Umask"), *process = line_of(status, "Tgid"),
		   *inner = line_of(status, "NStgid"), *inner_thread = line_of(status, "NSpid"),
		   *threads = line_of(status, "Threads");
	if (!uid || !gid || !groups || !mask || !process ||
	    sscanf(uid, "%u %u %u %u", &identity->real_uid, &identity->effective_uid, &identity->saved_uid, &identity->uid) != 4 ||
	    sscanf(gid, "%u %u %u %u", &identity->real_gid, &identity->effective_gid, &identity->saved_gid, &identity->gid) != 4)
		return -EIO;
	for (char *end; identity->group_count < MAX_GROUPS && *groups != '\n'; groups = end) {
		unsigned long group = strtoul(groups, &end, 10);
		if (end == groups || *end == 0)
			break;
		identity->groups[identity->group_count++] = (gid_t)group;
		while (*end == ' ')
			end++;
	}
	if (*groups != '\n' && identity->group_count == MAX_GROUPS)
		return -E2BIG;
	identity->umask = (mode_t)strtoul(mask, NULL, 8);
	identity->process = (pid_t)strtol(process, NULL, 10);
	identity->inner = inner ? (pid_t)last_number(inner) : identity->process;
	identity->inner_thread = inner_thread ? (pid_t)last_number(inner_thread) : tid;
	identity->threads = threads ? (int)strtol(threads, NULL, 10) : 0;
	identity->capabilities = hex_of(status, "CapEff");
	uint64_t deaf = hex_of(status, "SigBlk") | hex_of(status, "SigIgn");
	identity->signals_pending = hex_of(status, "SigPnd") & ~deaf;
	identity->signals_shared = hex_of(status, "ShdPnd") & ~deaf;
	return 0;
}

int identity_shares(pid_t tid, const char *which)
{
	char what[16];
	struct stat own, its;
	snprintf(what, sizeof what, "ns/%s", which);
	pid_t self_tid = (pid_t)syscall(SYS_gettid); /* another thread may be away (act-namespace.c) */
	return proc_stat(self_tid, what, &own) == 0 && proc_stat(tid, what, &its) == 0 && own.st_ino == its.st_ino &&
	       own.st_dev == its.st_dev;
}

/* /proc/thread-self, since another thread of ours may be somebody else at this moment. */
static int read_own(struct identity *identity)
{
	return identity_read((pid_t)syscall(SYS_gettid), identity);
}

/* A file may mean something else, or be somebody else's, by the namespaces of whoever opens it. */
static int shares_all(pid_t tid)
{
	static const char *const KINDS[] = { "user", "net", "ipc", "uts", "cgroup" };
	for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
		if (!identity_shares(tid, KINDS[i]))
			return 0;
	return 1;
}

int identity_differs(pid_t tid)
{
	struct identity own, its;
	if (read_own(&own) < 0 || identity_read(tid, &its) < 0)
		return 1;
	return own.real_uid != its.real_uid || own.uid != its.uid || own.real_gid != its.real_gid ||
	       own.gid != its.gid || own.capabilities != its.capabilities || own.group_count != its.group_count ||
	       memcmp(own.groups, its.groups, (size_t)own.group_count * sizeof own.groups[0]) != 0 ||
	       own.effective_uid != its.effective_uid || own.saved_uid != its.saved_uid ||
	       own.effective_gid != its.effective_gid || own.saved_gid != its.saved_gid || !shares_all(tid);
}

/* ------------------------------------------------------------------ being somebody else */

static __thread struct {
	int away;
	int paused;
	int shown;
	struct identity own;
	struct { /* whom we are to be again after a pause */
		pid_t tid;
		struct identity identity;
		int real;
	} other;
} self;

static int set_capabilities(uint64_t effective)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	data[0].effective = (uint32_t)effective & data[0].permitted;
	data[1].effective = (uint32_t)(effective >> 32) & data[1].permitted;
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int set_groups(const struct identity *to, const struct identity *from)
{
	if (to->group_count == from->group_count &&
	    memcmp(to->groups, from->groups, (size_t)to->group_count * sizeof to->groups[0]) == 0)
		return 0;
	return syscall(SYS_setgroups, to->group_count, to->groups) < 0 ? -errno : 0;
}

/* setfsuid() does not tell whether it worked; asking for nonsense tells what holds now. */
static int set_files_owner(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	return syscall(SYS_setfsgid, -1) == (long)gid && syscall(SYS_setfsuid, -1) == (long)uid ? 0 : -EPERM;
}

int identity_assume(pid_t tid, const struct identity *identity, int real)
{
	int failed = read_own(&self.own);
	if (failed)
		return failed;
	/* Capabilities in a namespace of its own are none here. */
	uint64_t capabilities = identity_shares(tid, "user") ? identity->capabilities : 0;
	if (real && identity->real_uid != 0)
		capabilities = 0;
	self.away = 1;
	self.other.tid = tid;
	self.other.real = real;
	if (identity != &self.other.identity)
		self.other.identity = *identity;
	failed = set_groups(identity, &self.own);
	if (!failed)
		failed = set_files_owner(real ? identity->real_uid : identity->uid, real ? identity->real_gid : identity->gid);
	if (!failed)
		failed = set_capabilities((capabilities | WAY_BACK) & (self.own.capabilities | WAY_BACK));
	if (failed)
		identity_drop();
	return failed;
}

void identity_drop(void)
{
	struct identity now;
	if (!self.away)
		return;
	self.away = 0;
	/* Whoever cannot find back must not go on: it would serve others as the wrong person. */
	if (read_own(&now) < 0 || set_files_owner(self.own.uid, self.own.gid) < 0 || set_groups(&self.own, &now) < 0 ||
	    set_capabilities(self.own.capabilities) < 0)
		abort();
}

static int shows_already(const struct identity *to)
{
	const struct identity *own = &self.own;
	return to->real_uid == own->real_uid && to->effective_uid == own->effective_uid && to->real_gid == own->real_gid &&
	       to->effective_gid == own->effective_gid;
}

/* Raw calls: glibc would change all threads. The saved ids stay ours, and lead back. */
int identity_show(void)
{
	const struct identity *to = &self.other.identity;
	if (!self.away || shows_already(to))
		return 0;
	self.shown = 1;
	if (syscall(SYS_setresgid, to->real_gid, to->effective_gid, -1) == 0 &&
	    syscall(SYS_setresuid, to->real_uid, to->effective_uid, -1) == 0)
		return 0;
	identity_hide();
	return -EPERM;
}

/* To set the ids has changed capabilities and the ids that files go by: those are set anew. */
int identity_hide(void)
{
	if (!self.shown)
		return 0;
	if (syscall(SYS_setresuid, self.own.real_uid, self.own.effective_uid, -1) < 0 ||
	    syscall(SYS_setresgid, self.own.real_gid, self.own.effective_gid, -1) < 0)
		abort();
	self.shown = 0;
	identity_pause();
	return identity_resume();
}

void identity_pause(void)
{
	self.paused = self.away;
	identity_drop();
}

int identity_resume(void)
{
	int paused = self.paused;
	self.paused = 0;
	return paused ? identity_assume(self.other.tid, &self.other.identity, self.other.real) : 0;
}
