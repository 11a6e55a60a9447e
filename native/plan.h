/*
 * What the supervisor tells the launcher, in a memfd that both map. The launcher's child writes back how far
 * it came: once its filter is in force it may not be able to make a system call, but it can always store a word.
 */
#ifndef HERMES_PLAN_H
#define HERMES_PLAN_H

#include <stdint.h>

enum { PLAN_MAGIC = 0x48524d53, MAX_LIMITS = 16, MAX_KEPT_FDS = 64 };

enum plan_flag {
	PLAN_NO_NEW_PRIVS = 1,
	PLAN_LISTENER = 2,  /* the filter has notify answers: ask the kernel for a listener */
	PLAN_NEW_SESSION = 4,
	PLAN_NEW_GROUP = 8,
	PLAN_CLOSE_FDS = 16,
	PLAN_FOLLOW_STOPS = 32, /* stop the supervisor when the program stops: for one that is a shell's job */
};

/* Queued to the launcher by the supervisor: "I was sent this". The value is sender * 128 + signal. */
#define FORWARD_SIGNAL (SIGRTMIN + 8)

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
	uint32_t directory; /* 0: stay */
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
	uint64_t ignored; /* bit n - 1: signal n is ignored, as it was when we were started (nohup) */
	uint64_t blocked; /* likewise, the mask */
	int32_t blocking[3]; /* 1: make that one of stdio blocking, 0: non-blocking, -1: leave it */
	uint32_t reserved;
	/* who to wake when there is something to tell */
	int32_t supervisor;
	int32_t worker;
	int32_t wake_signal;
	/* written back by the child */
	volatile int32_t listener;
	volatile int32_t failed_step;
	volatile int32_t failed_errno;
};

/* Launcher to supervisor, one fixed-size message each. */
enum launcher_message {
	SAY_STARTED = 1,   /* value = pid */
	SAY_MAIN_EXIT = 2, /* value = wait status */
	SAY_MAIN_STOP = 3, /* value = stop signal */
	SAY_OVER = 4,
};

/* Supervisor to launcher. */
enum supervisor_message {
	TELL_GO = 1,      /* the child may go on: it is traced, or need not be */
	TELL_HEARD = 2,   /* the last message arrived */
	TELL_KILL = 3,    /* end every process of the session */
};

struct message {
	int32_t kind;
	int32_t value;
};

#endif
