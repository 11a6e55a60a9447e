/*
 * Assuming a tracee's identity. Linux keeps credentials per thread, but the C library changes all threads at once. So
 * these are raw system calls, and only this thread assumes the identity.
 */
#define _GNU_SOURCE
#include "identity.h"
#include "../kernel/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kept while another identity is assumed, to restore our own. Neither of them gives access to a file. */
static const uint64_t KEPT_CAPABILITIES = 1ull << CAP_SETUID | 1ull << CAP_SETGID;

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
	ssize_t length = procfs_text(tid, "status", status, size);
	return length > 0 ? 0 : length < 0 ? (int)length : -ESRCH;
}

int identity_umask_in(const char *status, mode_t *mask)
{
	const char *line = procfs_field(status, "Umask");
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
	const char *uid = procfs_field(status, "Uid"), *gid = procfs_field(status, "Gid"),
		   *groups = procfs_field(status, "Groups"),
		   *mask = procfs_field(status, "Umask"), *process = procfs_field(status, "Tgid"),
		   *inner = procfs_field(status, "NStgid"), *inner_thread = procfs_field(status, "NSpid"),
		   *threads = procfs_field(status, "Threads");
	if (!uid || !gid || !groups || !mask || !process ||
	    sscanf(uid, "%u %u %u %u", &identity->real_uid, &identity->effective_uid, &identity->saved_uid,
		   &identity->uid) != 4 ||
	    sscanf(gid, "%u %u %u %u", &identity->real_gid, &identity->effective_gid, &identity->saved_gid,
		   &identity->gid) != 4)
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
	identity->capabilities = procfs_number(status, "CapEff", 16);
	uint64_t deaf = procfs_number(status, "SigBlk", 16) | procfs_number(status, "SigIgn", 16);
	identity->signals_pending = procfs_number(status, "SigPnd", 16) & ~deaf;
	identity->signals_shared = procfs_number(status, "ShdPnd", 16) & ~deaf;
	return 0;
}

int identity_shares(pid_t tid, const char *which)
{
	char what[16];
	struct stat own, its;
	snprintf(what, sizeof what, "ns/%s", which);
	pid_t self_tid = (pid_t)syscall(SYS_gettid); /* not getpid(): the main thread may be in other namespaces */
	return procfs_stat(self_tid, what, &own) == 0 && procfs_stat(tid, what, &its) == 0 && own.st_ino == its.st_ino &&
	       own.st_dev == its.st_dev;
}

/* Of this thread: another thread of ours may have assumed an identity at this moment. */
static int read_own(struct identity *identity)
{
	return identity_read((pid_t)syscall(SYS_gettid), identity);
}

/* A file may have another content or owner by the namespaces of the process that opens it. */
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

/* ------------------------------------------------------------------ assuming an identity */

static __thread struct {
	int assumed;
	int paused;
	int shown;
	struct identity own;
	struct { /* what to assume again after a pause */
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

/* setfsuid() does not report failure; asking for an invalid id returns the current one. */
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
	/* Capabilities in another user namespace count for nothing here. */
	uint64_t capabilities = identity_shares(tid, "user") ? identity->capabilities : 0;
	if (real && identity->real_uid != 0)
		capabilities = 0;
	self.assumed = 1;
	self.other.tid = tid;
	self.other.real = real;
	if (identity != &self.other.identity)
		self.other.identity = *identity;
	failed = set_groups(identity, &self.own);
	if (!failed)
		failed = set_files_owner(real ? identity->real_uid : identity->uid, real ? identity->real_gid : identity->gid);
	if (!failed)
		failed = set_capabilities((capabilities | KEPT_CAPABILITIES) & (self.own.capabilities | KEPT_CAPABILITIES));
	if (failed)
		identity_drop();
	return failed;
}

void identity_drop(void)
{
	struct identity now;
	if (!self.assumed)
		return;
	self.assumed = 0;
	/* A thread that cannot restore its identity must not go on: it would serve other callers with the wrong one. */
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

/* Raw system calls: glibc would change all threads. The saved ids stay ours, so that we can go back. */
int identity_show_ids(void)
{
	const struct identity *to = &self.other.identity;
	if (!self.assumed || shows_already(to))
		return 0;
	self.shown = 1;
	if (syscall(SYS_setresgid, to->real_gid, to->effective_gid, -1) == 0 &&
	    syscall(SYS_setresuid, to->real_uid, to->effective_uid, -1) == 0)
		return 0;
	identity_hide_ids();
	return -EPERM;
}

/* Changing the ids has also changed capabilities and file-system ids: set those anew. */
int identity_hide_ids(void)
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
	self.paused = self.assumed;
	identity_drop();
}

int identity_resume(void)
{
	int paused = self.paused;
	self.paused = 0;
	return paused ? identity_assume(self.other.tid, &self.other.identity, self.other.real) : 0;
}
