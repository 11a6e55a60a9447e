/* The two doors: how calls stop, and how an answer is carried out. */
#ifndef HERMES_DOORS_H
#define HERMES_DOORS_H

#include "../kernel/abi.h"
#include "../session/session.h"

#include <linux/seccomp.h>

struct cpu_sharing_state;

/* notify.c: each returns 1 when the buffer holds an event, 0 when there is none, or -errno. */
int notify_receive(struct session *s);
/* Carries out the answer in the buffer. */
void notify_answer(struct session *s, const struct event *event);

/* trace.c */
int trace_seize(struct session *s, pid_t tid);
/* Asks for every event that a session wants of a stopped tracee. */
void trace_follow(struct tracee *t);
/* Waits for one stop of one tracee. Returns 1 when the buffer holds an event, 0 when not, or -errno. */
int trace_wait(struct session *s, int spin_first);
/* The same without waiting: -EAGAIN when there is no stop. */
int trace_poll(struct session *s);
void trace_answer(struct session *s, const struct event *event);
/* Whether the tracee makes a call that the trace door put in place of its own. */
int trace_is_injecting(struct session *s, pid_t tid);

/* both.c: waits at both doors */
int both_next(struct session *s);
/* Waits for the exec events of programs that are traced for one execve, and at the notify door. */
int both_next_exec(struct session *s);
void both_close(struct session *s);

/* exec-window.c: an execve that was allowed at the notify door, until it is verified or has failed */
/* Answers the notification of the execve. `cached`: the exec cache knows it, or may learn it. */
void exec_window_open(struct session *s, const struct event *event, int cached);
/* A thread makes a call, so its last execve has failed. */
void exec_window_call(struct session *s, pid_t tid);
int exec_window_is_tracing(const struct session *s);
/* Waits for the next stop or end, with waitpid's flags. As trace_wait and trace_poll. */
int exec_window_wait(struct session *s, int flags);
/* 1 when the buffer holds an event of an execve whose caller could not be seized. */
int exec_window_report(struct session *s);
/* Carries out the answer to an event of these. */
void exec_window_answer(struct session *s, const struct event *event);
/* The same, but for a moment only: -EAGAIN when there is none until then. */
int exec_window_wait_briefly(struct session *s);
void exec_window_close(struct session *s);

/* stop-wait.c */
/* As waitpid(2). With `spin_first` it polls for some microseconds before it sleeps. */
pid_t stop_wait(struct session *s, int *status, int spin_first);
int spin_begins(struct session *s);
int spin_goes_on(int64_t from);
void spin_ended(struct session *s, int64_t from, int found);

/* tracees.c: the threads under the trace door, by thread id */
struct tracee *tracee_find(struct session *s, pid_t tid);
struct tracee *tracee_find_or_add(struct session *s, pid_t tid);
void tracee_forget(struct session *s, pid_t tid);
void tracee_forget_all(struct session *s);
/* Frees the on-behalf call that a tracee waits for. */
void tracee_drop_on_behalf(struct session *s, struct tracee *t);
/* A tracee that stopped at birth, and whose parent has ended and will not report it any more. */
struct tracee *tracee_orphan(struct session *s);
/* `visit` may forget the tracee. */
void tracee_for_each(struct session *s, void (*visit)(struct session *, struct tracee *));
/* The first tracee for which `wanted` is true. */
struct tracee *tracee_next(struct session *s, int (*wanted)(const struct tracee *t));

/* fetch.c: copies what the event's arguments point to into its slots, as the fetch plan says for its system call */
void fetch_arguments(struct session *s);
/* The WRITE_MEMORY part of an answer; `bytes` is where its offsets count from. 0 or -errno. */
int apply_writes(pid_t tid, const struct answer *answer, const uint8_t *bytes);

/* on-behalf-request.c: the call that the answer asks for, with the pins taken over. NULL: out of memory. */
struct on_behalf_call *on_behalf_from_answer(struct session *s, const struct event *event);

/* missing-program.c: whether the call in the buffer is an execve of an allowed program that still does not exist */
int missing_program_answer(struct session *s);

/* birth-affinity.c: whether a new thread or process inherited the one CPU that its parent shares with the broker */
int cpu_sharing_is_inherited(struct cpu_sharing_state *state, pid_t child);
void cpu_sharing_undo_inherited(struct cpu_sharing_state *state, pid_t parent, pid_t child);

/* instrument.c: signals that are events, and registers, code and calls of a stopped tracee */
int instrument_signal(struct session *s, struct tracee *t, int number);
void instrument_answer(struct session *s, struct tracee *t, const struct event *event);
void instrument_block_again(struct tracee *t, int number);
int64_t instrument_call(struct session *s, pid_t tid, uint64_t at, const uint64_t call[7]);
int instrument_registers(pid_t tid, void *into);
int instrument_set_registers(struct session *s, pid_t tid, const void *from);
int instrument_store(pid_t tid, uint64_t address, const uint8_t *from, size_t length);
int instrument_patch(pid_t tid, const uint64_t *addresses, const uint8_t *values, size_t count);

/* instruction.c: instructions that fault instead of running */
int instruction_traps(const struct session *s);
enum instruction instruction_faulted(struct session *s, struct tracee *t, int *length);
void instruction_report(struct event *event, const struct tracee *t, enum instruction which, int length);
void instruction_answer(struct tracee *t, const struct event *event, const struct answer *answer);
void instruction_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t into[4]);

#endif
