/*
 * The supervisor's orders to the launcher, in a memfd that both map. The launcher's child writes back how far it came:
 * with its filter in force it may not be able to make a system call, but it can always store a word.
 */
#ifndef HERMES_PLAN_H
#define HERMES_PLAN_H

#include <stdint.h>

enum { PLAN_MAGIC = 0x48524d53, MAX_LIMITS = 16, MAX_KEPT_FDS = 64, MAX_PROTECTIONS = 16 };

enum plan_flag {
	PLAN_NO_NEW_PRIVS = 1,
	PLAN_LISTENER = 2,  /* the filter uses the notify door: create a listener */
	PLAN_NEW_SESSION = 4,
	PLAN_NEW_GROUP = 8,
	PLAN_CLOSE_FDS = 16,
	PLAN_FOLLOW_STOPS = 32, /* stop the supervisor when the program stops, because the supervisor is a shell's job */
	PLAN_TRAP_TSC = 64, /* reading the time stamp counter faults */
};

/* The supervisor queues it to the launcher to forward a signal that it got. */
#define FORWARD_SIGNAL (SIGRTMIN + 8)
/* Its value: sender * 128 + signal, or one of these requests. */
enum { RELEASE_REQUEST = 0, HOLD_REQUEST = 128 };

enum launch_step {
	STEP_NONE = 0,
	STEP_SESSION = 1,
	STEP_DIRECTORY = 2,
	STEP_LIMIT = 3,
	STEP_STDIO = 4,
	STEP_SIGNALS = 5,
	STEP_CLOSE_FDS = 6,
	STEP_PRIVILEGES = 7,
	STEP_FILTER = 8,
	STEP_EXEC = 9,
	STEP_START = 10, /* fork itself */
	STEP_FENCE = 11, /* a required protection; failed_detail is its number */
	STEP_MOUNT = 12, /* failed_detail is the offset of its path in the plan */
	STEP_LANDLOCK_RULE = 13, /* likewise */
	STEP_FENCED_DIRECTORY = 14, /* the working directory does not exist behind the fence */
	STEP_TRAP_TSC = 15,
};

/* Protections that the fence is made of, in the order of src/nouns/protection.ts. */
enum protection {
	FENCE_USER_NAMESPACE,
	FENCE_PID_NAMESPACE,
	FENCE_MOUNT_NAMESPACE,
	FENCE_IPC_NAMESPACE,
	FENCE_NET_NAMESPACE,
	FENCE_UTS_NAMESPACE,
	FENCE_CGROUP_NAMESPACE,
	FENCE_NO_NESTING, /* no further user namespaces inside */
	FENCE_KEYRING,
	FENCE_CAPABILITIES,
	FENCE_LANDLOCK,
	FENCE_CGROUP,
	FENCE_NO_ADMINISTRATION, /* root keeps its other capabilities */
	FENCE_VIEW,              /* masks (masks.c) */
};

enum mount_kind {
	MOUNT_READ_ONLY, /* the path and everything below it */
	MOUNT_SEAL,      /* the mount at the path becomes read-only */
	MOUNT_EXPOSE,    /* what was at the path before the first step appears there again, above later mounts */
	MOUNT_EXPOSE_READ_ONLY,
	MOUNT_TMPFS,     /* data: options */
	MOUNT_PROC,      /* only in a pid namespace */
	MOUNT_DEVPTS,
	MOUNT_MQUEUE,    /* only in an ipc namespace */
	MOUNT_LINK,      /* data: a symbolic link's text */
	MOUNT_HIDE,
	MOUNT_PROTECT,   /* the path as it is now, read-only */
	MOUNT_PIN,       /* the path as it is now, as a mount: it cannot be renamed or removed */
	MOUNT_NO_DEVICES, /* device nodes at the path and below cannot be opened, nor where later steps expose a part of it */
};

/* Of a program that runs already. */
enum mount_change {
	MOUNT_OPEN, /* what is at the path becomes writable */
	MOUNT_SHUT, /* the mount at the path becomes read-only */
};

enum mount_flag { MOUNT_IF_THERE = 1 /* no error if the path does not exist */ };

struct plan_mount {
	uint32_t kind;
	uint32_t flags;
	uint32_t path;
	uint32_t data;
};

enum mask_order {
	MASK_PUT,  /* cover the path */
	MASK_TAKE, /* uncover it */
	MASK_LOOK, /* only tell whether the program has looked for it */
};

/* A file that the program does not find (masks.c). */
struct plan_mask {
	uint32_t order;
	uint32_t path;   /* in a folder: below it */
	uint32_t target; /* what the link over it says; 0: it is a folder */
	uint32_t folder; /* number of the mask of its folder, + 1; 0: it is covered itself */
};

/* A Landlock rule: access to a path and everything below it, or to a port. */
struct plan_rule {
	uint64_t access;
	uint32_t path;
	uint16_t port;
	uint16_t needs; /* applies only with these protections in force: bits 1 << protection */
};

struct plan_fence {
	uint32_t wanted;   /* bits 1 << protection */
	uint32_t required; /* without these the program does not start */
	uint32_t mount_count;
	uint32_t mounts;
	uint32_t path_rule_count;
	uint32_t path_rules;
	uint32_t port_rule_count;
	uint32_t port_rules;
	uint32_t cgroup_count;
	uint32_t cgroups; /* array of offsets: cgroup.procs files to write to */
	uint64_t handled_files;
	uint64_t handled_ports;
	uint64_t scopes;
	uint32_t mask_count;
	uint32_t masks;
	uint32_t masks_seen; /* a byte per mask; written back: 1 where the program has looked for the file */
	uint32_t reserved_masks;
	/* written back */
	volatile uint32_t in_force;
	volatile int32_t errnos[MAX_PROTECTIONS]; /* why a wanted protection is not in force */
	uint32_t reserved;
};

struct plan_limit {
	uint32_t resource;
	uint32_t reserved;
	uint64_t soft;
	uint64_t hard;
};

/* Offsets are from the start of the plan. argv and envp are arrays of uint32 offsets to NUL-terminated text. */
struct plan {
	uint32_t magic;
	uint32_t size;
	uint32_t flags;
	uint32_t file;
	uint32_t directory; /* 0: unchanged */
	uint32_t argc;
	uint32_t argv;
	uint32_t envc;
	uint32_t envp;
	uint32_t filter;
	uint32_t filter_count;
	int32_t stdio[3]; /* -1: closed */
	uint32_t limit_count;
	uint32_t kept_count;
	int32_t kept[MAX_KEPT_FDS];
	struct plan_limit limits[MAX_LIMITS];
	uint64_t ignored; /* bit n - 1: signal n is ignored, as it was when HERMES started (nohup) */
	uint64_t blocked; /* likewise the signal mask */
	int32_t blocking[3]; /* 1: make it blocking, 0: non-blocking, -1: unchanged */
	uint32_t reserved;
	struct plan_fence fence;
	/* whom to wake when there is a message */
	int32_t supervisor;
	int32_t worker;
	int32_t wake_signal;
	/* written back by the child */
	volatile int32_t listener;
	volatile int32_t failed_step;
	volatile int32_t failed_errno;
	volatile uint32_t failed_detail;
	uint32_t reserved_too;
};

/* Launcher to supervisor, one fixed-size message each. */
enum launcher_message {
	LAUNCHER_STARTED = 1,   /* value = pid */
	LAUNCHER_MAIN_EXIT = 2, /* value = wait status */
	LAUNCHER_MAIN_STOP = 3, /* value = stop signal */
	LAUNCHER_OVER = 4,
	LAUNCHER_PING = 5,      /* no content: the supervisor acknowledges it when no event waits for it */
};

/* Broker to launcher. */
enum broker_message {
	BROKER_PROGRAM_PID = 1,    /* value = pid */
	BROKER_PROGRAM_STATUS = 2, /* value = the program's wait status */
	BROKER_INIT_PID = 3,       /* value = the pid of the namespace's init */
};

/* Supervisor to launcher. */
enum supervisor_message {
	SUPERVISOR_GO = 1,   /* the child may go on: it is traced, or need not be */
	SUPERVISOR_ACK = 2,  /* acknowledges the last message */
	SUPERVISOR_KILL = 3, /* kill every process of the session */
};

struct message {
	int32_t kind;
	int32_t value;
};

#endif
