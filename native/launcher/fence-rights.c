/*
 * Rights that a process gives up for itself and its descendants: cgroup, keyring, capabilities, and by Landlock files and
 * ports.
 */
#define _GNU_SOURCE
#include "fence.h"
#include "../kernel/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Older headers lack some of these: landlock(7). */
enum { RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };
struct ruleset {
	uint64_t handled_files;
	uint64_t handled_ports;
	uint64_t scopes;
};
struct path_beneath {
	uint64_t access;
	int32_t parent;
} __attribute__((packed));
struct net_port {
	uint64_t access;
	uint64_t port;
};
enum { EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3, TRUNCATE = 1 << 14, IOCTL_DEV = 1 << 15 };
/* The rights that apply to a file that is not a directory. */
#define FILE_RIGHTS ((uint64_t)(EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV))

void join_cgroups(struct plan *plan)
{
	const uint32_t *files = (const uint32_t *)((char *)plan + plan->fence.cgroups);
	int failed = 0;
	if (!fence_wants(plan, FENCE_CGROUP))
		return;
	for (uint32_t i = 0; i < plan->fence.cgroup_count && !failed; i++) {
		int fd = open((char *)plan + files[i], O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			failed = errno;
		if (fd >= 0)
			close(fd);
	}
	fence_settle(plan, FENCE_CGROUP, failed);
}

/* A new keyring: the program gets no keys of the user's session. */
void join_own_keyring(struct plan *plan)
{
	if (fence_wants(plan, FENCE_KEYRING))
		fence_settle(plan, FENCE_KEYRING, syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ? errno : 0);
}

static int drop_all(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3], none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	if (syscall(SYS_capget, &header, had) < 0)
		return errno;
	int may = (had[0].effective >> CAP_SETPCAP & 1) != 0;
	/* Without CAP_SETPCAP it has, as a rule, no capabilities at all; and no_new_privs keeps it so. */
	for (int capability = 0; may && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return errno;
	if (may && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
			 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
			 0, 0, 0) < 0)
		return errno;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return errno;
	return syscall(SYS_capset, &header, none) < 0 ? errno : 0;
}

/*
 * What leads around mounts, or into the kernel: root could load a module, read a disk by its driver, or look with a
 * probe. Reading the memory of a process outside takes CAP_PERFMON alone, whatever Landlock says (mm_access in the kernel).
 */
static const int ADMINISTRATION[] = {
	CAP_SYS_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_BOOT, CAP_MAC_ADMIN, CAP_MAC_OVERRIDE, CAP_PERFMON, CAP_BPF,
	CAP_CHECKPOINT_RESTORE,
};

static int drop_administration(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data) < 0)
		return errno;
	for (size_t i = 0; i < sizeof ADMINISTRATION / sizeof ADMINISTRATION[0]; i++) {
		int capability = ADMINISTRATION[i];
		uint32_t kept = ~CAP_TO_MASK(capability);
		struct __user_cap_data_struct *word = &data[CAP_TO_INDEX(capability)];
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return errno;
		word->effective &= kept;
		word->permitted &= kept;
		word->inheritable &= kept;
	}
	return syscall(SYS_capset, &header, data) < 0 ? errno : 0;
}

void drop_capabilities(struct plan *plan)
{
	if (fence_wants(plan, FENCE_NO_ADMINISTRATION))
		fence_settle(plan, FENCE_NO_ADMINISTRATION, drop_administration());
	if (fence_wants(plan, FENCE_CAPABILITIES))
		fence_settle(plan, FENCE_CAPABILITIES, drop_all());
}

static int allow_below(int ruleset, int fd, uint64_t access)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return -1;
	struct path_beneath rule = { S_ISDIR(info.st_mode) ? access : access & FILE_RIGHTS, fd };
	return rule.access ? (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) : 0;
}

/*
 * The program may open again by name (/dev/stdout) what it was given, with the same access. Landlock does not apply to
 * pipes, sockets and memfds.
 */
static void allow_stdio(struct plan *plan, int ruleset)
{
	for (int i = 0; i < 3; i++) {
		struct stat info;
		int mode = fcntl(i, F_GETFL);
		if (mode < 0 || fstat(i, &info) < 0 || !(S_ISREG(info.st_mode) || S_ISCHR(info.st_mode)))
			continue;
		mode &= O_ACCMODE;
		uint64_t access = IOCTL_DEV | (mode != O_WRONLY ? READ_FILE : 0) | (mode != O_RDONLY ? WRITE_FILE | TRUNCATE : 0);
		if (allow_below(ruleset, i, access & plan->fence.handled_files) < 0 && errno != EBADFD)
			fence_fail(plan, STEP_STDIO, 0);
	}
}

/* Whether a rule lets the program read all of /proc. */
static int covers_proc(const struct plan *plan, const struct plan_rule *rule)
{
	const char *path = (const char *)plan + rule->path;
	return rule->access & READ_FILE && (strcmp(path, "/") == 0 || strcmp(path, "/proc") == 0);
}

/* Returns whether the program may read /proc. */
static int add_rules(struct plan *plan, int ruleset)
{
	int reads_proc = !(plan->fence.handled_files & READ_FILE);
	const struct plan_rule *rules = (const struct plan_rule *)((char *)plan + plan->fence.path_rules);
	for (uint32_t i = 0; i < plan->fence.path_rule_count; i++) {
		uint64_t access = rules[i].access & plan->fence.handled_files;
		if (rules[i].needs & ~plan->fence.in_force)
			continue;
		int fd = open((char *)plan + rules[i].path, O_PATH | O_CLOEXEC);
		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
			continue; /* it does not exist, or the program could not reach it */
		if (fd < 0 || allow_below(ruleset, fd, access) < 0)
			fence_fail(plan, STEP_LANDLOCK_RULE, rules[i].path);
		close(fd);
		reads_proc |= covers_proc(plan, &rules[i]);
	}
	rules = (const struct plan_rule *)((char *)plan + plan->fence.port_rules);
	for (uint32_t i = 0; i < plan->fence.port_rule_count; i++) {
		struct net_port rule = { rules[i].access, rules[i].port };
		if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0) < 0)
			fence_fail(plan, STEP_FENCE, FENCE_LANDLOCK);
	}
	return reads_proc;
}

/* `proc`: the /proc that the broker itself reads; -1 for the program. */
void restrict_by_landlock(struct plan *plan, int proc)
{
	const struct plan_fence *fence = &plan->fence;
	struct ruleset ruleset = { fence->handled_files, fence->handled_ports, fence->scopes };
	if (!fence_wants(plan, FENCE_LANDLOCK))
		return;
	/* An older kernel takes a shorter structure. Fields that it does not know are not passed. */
	size_t size = fence->scopes          ? sizeof ruleset
		      : fence->handled_ports ? offsetof(struct ruleset, scopes)
					     : offsetof(struct ruleset, handled_ports);
	int fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, size, 0);
	if (fd < 0) {
		fence_settle(plan, FENCE_LANDLOCK, errno);
		return;
	}
	if (fence->handled_files)
		allow_stdio(plan, fd);
	if (!add_rules(plan, fd) && proc >= 0)
		procfs_hide_from_program();
	if (proc >= 0 && allow_below(fd, proc, (READ_FILE | READ_DIR) & fence->handled_files) < 0)
		fence_fail(plan, STEP_FENCE, FENCE_LANDLOCK);
	fence_settle(plan, FENCE_LANDLOCK, syscall(SYS_landlock_restrict_self, fd, 0) < 0 ? errno : 0);
	close(fd);
}
