/* See clerks.c. */
#ifndef HERMES_CLERKS_H
#define HERMES_CLERKS_H

#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/types.h>

/* Of the last calls: how many waited for the one before, for how many no answer stood, how long the others took. */
struct crowd {
	int seen;
	int crowded;
	int left;
	int64_t spent; /* nanoseconds */
};

struct clerks;
struct session;

/* The worker waited so long for a call, and the answer took so long, -1 if none stood for it. Clerks may come to its help. */
void clerks_consider(struct session *s, pid_t tid, int64_t waited, int64_t spent);
/* They receive what is notified; the worker does not. */
int clerks_at_work(const struct session *s);
/* A call that they leave to the worker: 1. */
int clerks_left(struct session *s, struct seccomp_notif *request);
/* The worker is about to wait, and to be interrupted if something is left to it: whether something is already. */
int clerks_worker_waits(struct session *s);
void clerks_worker_awake(struct session *s);
void clerks_close(struct session *s);

#endif
