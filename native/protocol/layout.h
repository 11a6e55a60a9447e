/* The memory that C and TypeScript share. src/kernel/binding/layout.ts mirrors every offset, and a test compares the two. */
#ifndef HERMES_LAYOUT_H
#define HERMES_LAYOUT_H

#include <stdint.h>

enum {
	ARGUMENTS = 6,
	REGISTERS = 27,
	MAX_WRITES = 16,

	MAX_PINS = 2,
	NAME_SIZE = 264,

	/*
	 * One ArrayBuffer per session: the event, the answer to it, the pins of its paths, and room for bytes in both
	 * directions.
	 */
	ANSWER_OFFSET = 512,
	PINS_OFFSET = 2048,
	FETCH_OFFSET = 4096,
	FETCH_SIZE = 256 * 1024,
	REPLY_OFFSET = FETCH_OFFSET + FETCH_SIZE,
	REPLY_SIZE = 512 * 1024,
	BUFFER_SIZE = REPLY_OFFSET + REPLY_SIZE,
};

enum event_kind {
	EVENT_WOKEN = 0,     /* no event: the loop is to look at its orders, or a deadline passed */
	EVENT_ENTRY = 1,     /* a call waits for an answer */
	EVENT_RETURN = 2,    /* a call has returned and its result waits for an answer */
	EVENT_FORK = 3,      /* peer = the new tracee */
	EVENT_EXEC = 4,      /* peer = the thread that called execve, when it was not the leader; result: new_program_flag */
	EVENT_BORN = 5,      /* a new tracee has not run yet; only where births are watched */
	EVENT_EXIT = 6,      /* result = wait status of one tracee */
	EVENT_MAIN_EXIT = 7, /* result = wait status of the program */
	EVENT_MAIN_STOP = 8, /* result = the stop signal */
	EVENT_OVER = 9,      /* no process of the session is left */
	EVENT_SIGNAL = 10,   /* nr = a watched signal on its way to the program, peer = its si_code, id = its si_addr */
	EVENT_INSTRUCTION = 12, /* nr = which; args = the values it would give, then rax and rcx; result = its length */
	EVENT_NOT_EXECUTED = 13, /* an allowed execve has failed; result = the errno if its caller could not be traced */
	EVENT_EXEC_TRACED = 14,  /* the caller of an allowed execve is traced by another process: answer.result is to be that */
};

/* Instructions that fault before they run. */
enum instruction { INSTRUCTION_NONE = 0, INSTRUCTION_RDTSC = 1, INSTRUCTION_RDTSCP = 2 };

/* On an exec event of the notify door. */
enum new_program_flag {
	NEW_PROGRAM_READ = 1,   /* the slots hold what it is (doors/new-program.c) */
	NEW_PROGRAM_CACHED = 2, /* its execve was not decided on: the exec cache knew another program for it */
};
enum new_program_slot { NEW_PROGRAM_FILE = 0, NEW_PROGRAM_CODE = 1, NEW_PROGRAM_WORDS = 2 };

enum door { DOOR_NONE = 0, DOOR_NOTIFY = 1, DOOR_TRACE = 2 };

/* A fetched argument: bytes at `offset` in the buffer, or the reason why there are none. */
struct slot {
	uint32_t offset;
	uint32_t length;
	int32_t error;      /* 0, or the errno that reading the tracee's memory gave */
	uint32_t truncated; /* there was more than we copied */
};

struct event {
	uint32_t kind;
	uint32_t door;
	int32_t tid;
	int32_t nr;
	uint64_t args[ARGUMENTS];
	uint64_t ip;
	uint64_t sp;
	int64_t result;
	uint64_t id;
	double time; /* seconds, CLOCK_REALTIME */
	int32_t peer;
	uint32_t fetched; /* bit i: slots[i] holds something */
	struct slot slots[ARGUMENTS];
	int32_t broker;   /* the socket to the broker, or 0: this process does its work (broker.h) */
	uint32_t reserved;
	uint64_t registers[REGISTERS]; /* at the trace door: the thread's struct user_regs_struct */
};

/*
 * A pin: what a path reached when it was decided on, held open, so that the call reaches the same object. All zero: not
 * resolved.
 */
enum pin_state {
	PIN_NONE = 0,
	PIN_FOUND = 1,   /* object; and parent and name if they were asked for */
	PIN_MISSING = 2, /* `parent` has no entry of that name */
	PIN_FAILED = 3,  /* the kernel fails with `error` on the way */
};

struct pin {
	uint32_t state;
	int32_t error;
	int32_t object;
	int32_t parent;
	int32_t owner; /* the process that has these descriptors: the socket to a broker, or 0 for this process */
	uint32_t device; /* the device number if the object is a character device, else 0 */
	char name[NAME_SIZE]; /* the last component, with its trailing slash if there was one */
};

enum answer_action {
	ANSWER_CONTINUE = 0,  /* let the call happen, changed by `registers` and `writes` */
	ANSWER_RETURN = 1,    /* do not make the call; `result` is what the program sees */
	ANSWER_KILL = 2,      /* SIGKILL to the whole process */
	ANSWER_HOLD = 3,      /* leave it waiting; resume() answers it later */
	ANSWER_ON_BEHALF = 4, /* make the call on behalf, with its pins and the addresses that were decided on */
};

enum answer_flag {
	ANSWER_WANT_RETURN = 1, /* report the call's return too (trace door) */
	ANSWER_SET_RESULT = 2,  /* on a return: replace the result */
	ANSWER_AS_TRACEE = 4,   /* ANSWER_ON_BEHALF: the tracee has other rights than we have */
	ANSWER_OTHER_ROOT = 8,  /* ANSWER_ON_BEHALF: the tracee may have another root than we have */
	ANSWER_ROUTED = 32,     /* ANSWER_ON_BEHALF: a control message that routes the packet elsewhere was decided on */
	ANSWER_REGISTERS = 16,  /* on a signal: the event's registers replace the tracee's */
	ANSWER_NO_STREAM = 128, /* ANSWER_ON_BEHALF: it was allowed because its socket is no stream */
	ANSWER_VERIFY = 256,    /* on an execve at the notify door: report its exec event */
	ANSWER_CACHE = 512,     /* on an execve, and on its exec event: the same may go on without a decision (doors/exec-cache.c) */
	ANSWER_DELIVER = 64,    /* on an instruction: deliver its SIGSEGV to the program */
};

enum write_kind {
	WRITE_MEMORY = 0,   /* copy bytes to `address` in the tracee */
	WRITE_POINTER = 1,  /* copy bytes to scratch memory of ours in the tracee, and point argument `argument` to it */
	WRITE_ADDRESS = 2,  /* ANSWER_ON_BEHALF: the addresses that were decided on, 132 bytes for each message: length, address */
	WRITE_HOW = 3,      /* ANSWER_ON_BEHALF: the struct open_how that was decided on */
	WRITE_SNAPSHOT = 4, /* ANSWER_ON_BEHALF: what the decision read of its memory (on-behalf/snapshot.c); at most one */
};

struct write {
	uint32_t kind;
	uint32_t argument;
	uint64_t address;
	uint32_t offset;
	uint32_t length;
};

struct answer {
	uint32_t action;
	uint32_t flags;
	int64_t result;     /* on a signal: the signal that the program gets, 0 for none */
	uint32_t registers; /* bit i: args[i] replaces the register */
	int32_t signal;     /* sent to the thread first, 0 for none */
	uint64_t args[ARGUMENTS];
	uint32_t write_count;
	uint32_t reserved;
	struct write writes[MAX_WRITES];
};

/*
 * How to fetch the arguments of a call when it stops: fixed-size steps per system call, from the ABI table. Other memory
 * is read on demand by fetch().
 */
enum fetch_kind {
	FETCH_NOTHING = 0,
	FETCH_STRING = 1, /* NUL-terminated, at most PATH_MAX */
	FETCH_BYTES = 2,  /* length in argument `length` */
};

struct fetch_step {
	uint8_t kind;
	uint8_t length;    /* index of the argument that holds the length */
	uint16_t maximum;  /* never copy more than this */
};

enum { MAX_SYSCALL = 512 };

struct fetch_plan {
	struct fetch_step steps[MAX_SYSCALL][ARGUMENTS];
};

_Static_assert(sizeof(struct event) <= ANSWER_OFFSET, "the event must fit before the answer");
_Static_assert(ANSWER_OFFSET + sizeof(struct answer) <= PINS_OFFSET, "the answer must fit before the pins");
_Static_assert(PINS_OFFSET + MAX_PINS * sizeof(struct pin) <= FETCH_OFFSET, "the pins must fit before the bytes");

#endif
