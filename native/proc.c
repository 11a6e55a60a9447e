/*
 * The kernel guards what /proc tells of a process by its ptrace rule, and asks about whoever opens it: about us. We have
 * the tracee's users, groups and capabilities while we look, so the kernel's own answer holds for those, and for processes
 * that are not dumpable. What it cannot know is decided here: that the tracee may look into its own process; that
 * processes of HERMES are not for it; what Yama says; and that two capabilities, by which we find back to ourselves, are not the tracee's. What cannot be proven is refused.
 */
#define _GNU_SOURCE
#include "proc.h"

#include "path.h"
#include "procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PROC_ROOT = 1 /* its inode */, MAX_DEPTH = 16, MAX_ANCESTORS = 10000 };

/* Of a process or thread: what anybody may ask, or what the kernel asks about when it is read, by the program itself. */
static const char *const PUBLIC[] = {
	"arch_status", "attr", "autogroup", "cgroup", "children", "clear_refs", "cmdline", "comm", "coredump_filter",
	"cpu_resctrl_groups", "cpuset", "fd", "gid_map", "io", "ksm_merging_pages", "ksm_stat", "latency", "limits",
	"loginuid", "mountinfo", "mounts", "mountstats", "net", "ns", "oom_adj", "oom_score", "oom_score_adj",
	"patch_state", "personality", "projid_map", "sched", "schedstat", "sessionid", "setgroups", "stack", "stat",
	"statm", "status", "syscall", "task", "timens_offsets", "timers", "timerslack_ns", "uid_map", "wchan",
};
/* Folders whose entries are so, as long as no link is followed. */
static const char *const PUBLIC_FOLDERS[] = { "attr", "fd", "net", "ns", "task" };

/* What a process's status says, in the numbers of that /proc. */
struct facts {
	pid_t process;      /* thread group */
	pid_t inner;        /* … in the innermost pid namespace */
	pid_t parent;
	uint64_t permitted; /* capabilities */
	int is_standin;     /* by its name: it could be a process that makes one call in our place (standin.c) */
};

int proc_is(int fd)
{
	struct stat info;
	struct statfs where;
	return fstat(fd, &info) == 0 && major(info.st_dev) == 0 && fstatfs(fd, &where) == 0 &&
	       where.f_type == PROC_SUPER_MAGIC;
}

static const char *value_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);
	return line == NULL ? "" : line + strlen(name);
}

/* 0, or -1 when that is no folder of a process, or of one that is gone. */
static int read_facts(int folder, struct facts *facts)
{
	char status[4096];
	int fd = openat(folder, "status", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, status, sizeof status - 1);
	if (fd >= 0)
		close(fd);
	status[length > 0 ? length : 0] = 0;
	*facts = (struct facts){
		.process = (pid_t)strtol(value_of(status, "\nTgid:"), NULL, 10),
		.parent = (pid_t)strtol(value_of(status, "\nPPid:"), NULL, 10),
		.permitted = strtoull(value_of(status, "\nCapPrm:"), NULL, 16),
		.is_standin = strncmp(status, "Name:\thermes-", 13) == 0,
	};
	facts->inner = facts->process;
	const char *all = value_of(status, "\nNStgid:");
	for (char *end; *all && *all != '\n'; all = end) {
		facts->inner = (pid_t)strtol(all, &end, 10);
		if (end == all)
			return -1;
	}
	return facts->process > 0 ? 0 : -1;
}

static int folder_of(pid_t pid)
{
	return proc_open(pid, "", O_PATH | O_DIRECTORY);
}

static int facts_of(pid_t pid, struct facts *facts)
{
	int folder = folder_of(pid), failed = folder < 0 ? -1 : read_facts(folder, facts);
	if (folder >= 0)
		close(folder);
	return failed;
}

/* ------------------------------------------------------------------ which process */

/* The folder above, when it lies in the same /proc; -1 when not. Closes the one that it is given. */
static int above(int folder, int *is_root)
{
	struct stat here, there;
	int parent = openat(folder, "..", O_PATH | O_CLOEXEC);
	int known = parent >= 0 && fstat(folder, &here) == 0 && fstat(parent, &there) == 0 && here.st_dev == there.st_dev &&
		    here.st_ino != there.st_ino;
	close(folder);
	if (!known && parent >= 0)
		close(parent);
	*is_root = known && there.st_ino == PROC_ROOT;
	return known ? parent : -1;
}

/* A new descriptor of the folder right below /proc that a folder is, or lies in; -1 when it is a mount of its own. */
static int process_above(int folder)
{
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 3), is_root = 0;
	for (int depth = 0; at >= 0 && depth < MAX_DEPTH; depth++) {
		int same = fcntl(at, F_DUPFD_CLOEXEC, 3), parent = same < 0 ? -1 : above(same, &is_root);
		if (parent >= 0 && is_root) {
			close(parent);
			return at;
		}
		close(at);
		at = parent;
	}
	if (at >= 0)
		close(at);
	return -1;
}

static int same_pid_namespace(int one, int other)
{
	struct stat a, b;
	return fstatat(one, "ns/pid", &a, 0) == 0 && fstatat(other, "ns/pid", &b, 0) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

/* Its number for us, of a process that another /proc shows: the one of that number in that namespace. 0: none. */
static pid_t outer_number(int folder, const struct facts *facts)
{
	if (proc_is_held(folder))
		return facts->process;
	int top = openat(proc_folder(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = top < 0 ? NULL : fdopendir(top);
	pid_t found = 0;
	for (struct dirent *entry; all != NULL && !found && (entry = readdir(all)) != NULL;) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		struct facts its;
		int other = pid > 0 ? folder_of(pid) : -1;
		if (other >= 0 && read_facts(other, &its) == 0 && its.inner == facts->inner && same_pid_namespace(folder, other))
			found = pid;
		if (other >= 0)
			close(other);
	}
	if (all != NULL)
		closedir(all);
	return found;
}

static int is_below(pid_t pid, pid_t ancestor)
{
	struct facts facts;
	for (int i = 0; i < MAX_ANCESTORS && pid > 1 && facts_of(pid, &facts) == 0; i++) {
		if (facts.parent == ancestor)
			return 1;
		pid = facts.parent;
	}
	return 0;
}

/* ------------------------------------------------------------------ whether it may */

static pid_t ours[2];

void proc_are_ours(pid_t launcher, pid_t supervisor)
{
	ours[0] = launcher;
	ours[1] = supervisor;
}

pid_t proc_supervisor(void)
{
	return ours[1] ? ours[1] : getpid();
}

/* This process, its stand-ins, and those that hold the session: the kernel asks about us, and we may look into ourselves. */
static int is_ours(pid_t target, const struct facts *facts)
{
	if (target == getpid() || target == ours[0] || target == ours[1])
		return 1;
	return facts->parent == getpid() && (facts->is_standin || ours[0] == 0);
}

/* Yama says who may attach, and so open the memory of another. Exceptions that a process makes cannot be seen. */
static int yama_refuses(const struct identity *caller, pid_t target)
{
	char digit = '3';
	int fd = openat(proc_folder(), "sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	ssize_t got = read(fd, &digit, 1);
	close(fd);
	if (got == 1 && (digit == '0' || (digit < '3' && caller->capabilities >> CAP_SYS_PTRACE & 1)))
		return 0;
	return digit != '1' || !is_below(target, caller->process);
}

static int has_more(const struct onlooker *who, const struct facts *target)
{
	const uint64_t way_back = 1ull << CAP_SETUID | 1ull << CAP_SETGID;
	return who->as != NULL && (target->permitted & way_back & ~who->as->capabilities) != 0 &&
	       !(who->as->capabilities >> CAP_SYS_PTRACE & 1);
}

static int may_look_into(const struct onlooker *who, const struct identity *caller, int folder,
			 const struct facts *facts, int attaches)
{
	struct facts outer;
	pid_t target = outer_number(folder, facts);
	if (target <= 0 || facts_of(target, &outer) < 0 || is_ours(target, &outer))
		return 0;
	return !has_more(who, facts) && !(attaches && yama_refuses(caller, target));
}

static int is_own(const struct onlooker *who, const struct identity *caller, int folder, const struct facts *facts)
{
	if (proc_is_held(folder))
		return facts->process == caller->process;
	int own = facts->inner == caller->inner ? folder_of(who->tid) : -1;
	int same = own >= 0 && same_pid_namespace(folder, own);
	if (own >= 0)
		close(own);
	return same;
}

/* Of the folder's own name, which the kernel gives it. */
static const char *last_component(int folder, char *path, size_t size)
{
	ssize_t length = name_of(folder, path, size - 1);
	path[length > 0 ? length : 0] = 0;
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int is_called(int folder, const char *name)
{
	char path[PATH_MAX];
	return strcmp(last_component(folder, path, sizeof path), name) == 0;
}

static int look(const struct onlooker *who, int folder, int attaches)
{
	struct identity caller;
	struct facts facts;
	int whose = -EACCES, process = process_above(folder);
	if (process < 0)
		return -EACCES;
	if (faccessat(process, "status", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		whose = PROC_NOBODYS; /* such as /proc/sys */
	else if (read_facts(process, &facts) < 0 || identity_read(who->tid, &caller) < 0)
		whose = -EACCES;
	else if (is_own(who, &caller, process, &facts))
		whose = is_called(folder, "map_files") ? PROC_OTHERS : PROC_OWN; /* by capability, of its own too */
	else if (may_look_into(who, &caller, process, &facts, attaches))
		whose = PROC_OTHERS;
	close(process);
	return whose;
}

static int is_one_of(const char *name, size_t length, const char *const *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(all[i]) == length && memcmp(all[i], name, length) == 0)
			return 1;
	return 0;
}

static int is_public(int folder, const char *name)
{
	char path[PATH_MAX];
	const char *last = last_component(folder, path, sizeof path);
	if (*last && strspn(last, "0123456789") == strlen(last))
		return is_one_of(name, strcspn(name, "/"), PUBLIC, sizeof PUBLIC / sizeof PUBLIC[0]);
	return is_one_of(last, strlen(last), PUBLIC_FOLDERS, sizeof PUBLIC_FOLDERS / sizeof PUBLIC_FOLDERS[0]);
}

int proc_look(const struct onlooker *who, int folder, const char *name, int follows)
{
	struct stat info;
	if ((fstat(folder, &info) == 0 && info.st_ino == PROC_ROOT) || strcmp(name, "..") == 0 || strcmp(name, ".") == 0 ||
	    (!follows && is_public(folder, name)))
		return PROC_NOBODYS;
	identity_pause();
	int whose = look(who, folder, strncmp(name, "mem", 4) == 0);
	return identity_resume() < 0 ? -EACCES : whose;
}
