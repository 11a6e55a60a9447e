/*
 * The kernel protects what /proc shows of a process by its ptrace access check, against the process that opens it: us. We
 * have assumed the tracee's ids and capabilities, so the kernel's check holds for those, and for processes that are not
 * dumpable. What the kernel cannot know is checked here: the tracee may read its own process; it may not read processes of
 * HERMES; Yama's rule; and the two capabilities that we keep to restore our identity are not the tracee's. In doubt access
 * is refused.
 */
#define _GNU_SOURCE
#include "proc-access.h"
#include "../kernel/procfs.h"
#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROC_ROOT = 1 /* its inode */, MAX_DEPTH = 16, MAX_ANCESTORS = 10000 };

/*
 * Entries of a process or thread that every process may open, or that the kernel checks only when the program itself reads
 * them.
 */
static const char *const PUBLIC[] = {
	"arch_status", "attr", "autogroup", "cgroup", "children", "clear_refs", "cmdline", "comm", "coredump_filter",
	"cpu_resctrl_groups", "cpuset", "fd", "gid_map", "io", "ksm_merging_pages", "ksm_stat", "latency", "limits",
	"loginuid", "mountinfo", "mounts", "mountstats", "net", "ns", "oom_adj", "oom_score", "oom_score_adj",
	"patch_state", "personality", "projid_map", "sched", "schedstat", "sessionid", "setgroups", "stack", "stat",
	"statm", "status", "syscall", "task", "timens_offsets", "timers", "timerslack_ns", "uid_map", "wchan",
};
/* Folders whose entries are public, as long as no link is followed. */
static const char *const PUBLIC_FOLDERS[] = { "attr", "fd", "net", "ns", "task" };

/* From a process's status, by the pid numbers of that /proc. */
struct facts {
	pid_t process;      /* thread group */
	pid_t inner;        /* … in the innermost pid namespace */
	pid_t parent;
	uint64_t permitted; /* capabilities */
	int is_proxy;       /* by its name it may be a proxy process of ours (on-behalf/proxy-process.c) */
};

/* 0, or -1 when the folder is no process's, or its process has ended. */
static int read_facts(int folder, struct facts *facts)
{
	char status[4096];
	int fd = openat(folder, "status", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, status, sizeof status - 1);
	if (fd >= 0)
		close(fd);
	status[length > 0 ? length : 0] = 0;
	*facts = (struct facts){
		.process = (pid_t)procfs_number(status, "Tgid", 10),
		.parent = (pid_t)procfs_number(status, "PPid", 10),
		.permitted = procfs_number(status, "CapPrm", 16),
		.is_proxy = strncmp(status, "Name:\thermes-", 13) == 0,
	};
	facts->inner = facts->process;
	const char *all = procfs_field(status, "NStgid");
	for (char *end; all != NULL && *all && *all != '\n'; all = end) {
		facts->inner = (pid_t)strtol(all, &end, 10);
		if (end == all)
			return -1;
	}
	return facts->process > 0 ? 0 : -1;
}

static int folder_of(pid_t pid)
{
	return procfs_open(pid, "", O_PATH | O_DIRECTORY);
}

static int facts_of(pid_t pid, struct facts *facts)
{
	int folder = folder_of(pid), failed = folder < 0 ? -1 : read_facts(folder, facts);
	if (folder >= 0)
		close(folder);
	return failed;
}

/* ------------------------------------------------------------------ which process */

/* The folder above, if it is in the same /proc, else -1. Closes the folder that it is given. */
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

/*
 * A new descriptor of the folder directly below /proc that contains the folder, or is it; -1 when the folder is a mount of
 * its own.
 */
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

/* Our pid number for a process that another /proc shows: the process with that number in that pid namespace. 0: none. */
static pid_t outer_number(int folder, const struct facts *facts)
{
	if (procfs_contains(folder))
		return facts->process;
	int top = openat(procfs_dir(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

/* ------------------------------------------------------------------ whether access is allowed */

static pid_t protected_pids[2]; /* of the process: the broker sets them before it starts threads */

void proc_access_protect(pid_t launcher, pid_t supervisor)
{
	protected_pids[0] = launcher;
	protected_pids[1] = supervisor;
}

pid_t proc_access_supervisor(void)
{
	return protected_pids[1] ? protected_pids[1] : getpid();
}

/*
 * This process, its proxy processes, and the session's launcher and supervisor. The kernel would allow access to them,
 * because it checks us.
 */
static int is_hermes(pid_t target, const struct facts *facts)
{
	if (target == getpid() || target == protected_pids[0] || target == protected_pids[1])
		return 1;
	return facts->parent == getpid() && (facts->is_proxy || protected_pids[0] == 0);
}

/*
 * Yama restricts which process may attach, and so may open another's memory. Exceptions that a process has declared
 * (PR_SET_PTRACER) cannot be read, so they do not count.
 */
static int yama_refuses(const struct identity *caller, pid_t target)
{
	char digit = '3';
	int fd = openat(procfs_dir(), "sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	ssize_t got = read(fd, &digit, 1);
	close(fd);
	if (got == 1 && (digit == '0' || (digit < '3' && caller->capabilities >> CAP_SYS_PTRACE & 1)))
		return 0;
	return digit != '1' || !is_below(target, caller->process);
}

static int has_kept_capabilities(const struct proc_reader *reader, const struct facts *target)
{
	const uint64_t kept = 1ull << CAP_SETUID | 1ull << CAP_SETGID;
	return reader->as != NULL && (target->permitted & kept & ~reader->as->capabilities) != 0 &&
	       !(reader->as->capabilities >> CAP_SYS_PTRACE & 1);
}

static int may_look_into(const struct proc_reader *reader, const struct identity *caller, int folder,
			 const struct facts *facts, int attaches)
{
	struct facts outer;
	pid_t target = outer_number(folder, facts);
	if (target <= 0 || facts_of(target, &outer) < 0 || is_hermes(target, &outer))
		return 0;
	return !has_kept_capabilities(reader, facts) && !(attaches && yama_refuses(caller, target));
}

static int is_own(const struct proc_reader *reader, const struct identity *caller, int folder, const struct facts *facts)
{
	if (procfs_contains(folder))
		return facts->process == caller->process;
	int own = facts->inner == caller->inner ? folder_of(reader->tid) : -1;
	int same = own >= 0 && same_pid_namespace(folder, own);
	if (own >= 0)
		close(own);
	return same;
}

/* The last component of the folder's own name. */
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

static int check(const struct proc_reader *reader, int folder, int attaches)
{
	struct identity caller;
	struct facts facts;
	int owner = -EACCES, process = process_above(folder);
	if (process < 0)
		return -EACCES;
	if (faccessat(process, "status", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		owner = PROC_PUBLIC; /* such as /proc/sys */
	else if (read_facts(process, &facts) < 0 || identity_read(reader->tid, &caller) < 0)
		owner = -EACCES;
	else if (is_own(reader, &caller, process, &facts))
		owner = is_called(folder, "map_files") ? PROC_OTHER : PROC_OWN; /* which needs a capability */
	else if (may_look_into(reader, &caller, process, &facts, attaches))
		owner = PROC_OTHER;
	close(process);
	return owner;
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

int proc_access_check(const struct proc_reader *reader, int folder, const char *name, int follows)
{
	struct stat info;
	if ((fstat(folder, &info) == 0 && info.st_ino == PROC_ROOT) || strcmp(name, "..") == 0 || strcmp(name, ".") == 0 ||
	    (!follows && is_public(folder, name)))
		return PROC_PUBLIC;
	identity_pause();
	int owner = check(reader, folder, strncmp(name, "mem", 4) == 0);
	return identity_resume() < 0 ? -EACCES : owner;
}
