/* The threads under the trace door, by thread id. */
#define _GNU_SOURCE
#include "doors.h"
#include "../kernel/procfs.h"
#include "../session/broker-client.h"

#include <stdlib.h>

static struct tracee **bucket(struct session *s, pid_t tid)
{
	return &s->tracees[(unsigned int)tid % TRACEE_BUCKETS];
}

struct tracee *tracee_find(struct session *s, pid_t tid)
{
	struct tracee *t = *bucket(s, tid);
	while (t != NULL && t->tid != tid)
		t = t->next;
	return t;
}

struct tracee *tracee_find_or_add(struct session *s, pid_t tid)
{
	struct tracee *t = tracee_find(s, tid);
	if (t != NULL)
		return t;
	t = calloc(1, sizeof *t);
	if (t == NULL)
		return NULL;
	t->tid = tid;
	t->every_call = s->every_call;
	s->tracee_count++;
	t->next = *bucket(s, tid);
	*bucket(s, tid) = t;
	return t;
}

void tracee_drop_on_behalf(struct session *s, struct tracee *t)
{
	if (t->on_behalf == NULL)
		return;
	broker_free_call(t->on_behalf);
	t->on_behalf = NULL;
	s->on_behalf_count--;
}

void tracee_forget(struct session *s, pid_t tid)
{
	for (struct tracee **link = bucket(s, tid); *link != NULL; link = &(*link)->next) {
		struct tracee *t = *link;
		if (t->tid != tid)
			continue;
		*link = t->next;
		s->tracee_count--;
		s->early -= t->early;
		s->ended -= t->ended;
		s->newborn -= t->newborn;
		tracee_drop_on_behalf(s, t);
		free(t->pending);
		free(t);
		return;
	}
}

void tracee_for_each(struct session *s, void (*visit)(struct session *, struct tracee *))
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i], *next; t != NULL; t = next) {
			next = t->next;
			visit(s, t);
		}
}

struct tracee *tracee_next(struct session *s, int (*wanted)(const struct tracee *t))
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i]; t != NULL; t = t->next)
			if (wanted(t))
				return t;
	return NULL;
}

/* The process of a thread, or the parent of a process. 0 when the thread itself has ended. */
static pid_t elder_of(pid_t tid)
{
	char status[4096];
	if (procfs_text(tid, "status", status, sizeof status) <= 0)
		return 0;
	pid_t process = (pid_t)procfs_number(status, "Tgid", 10);
	return process == tid ? (pid_t)procfs_number(status, "PPid", 10) : process;
}

struct tracee *tracee_orphan(struct session *s)
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i]; t != NULL; t = t->next)
			if (t->early && tracee_find(s, elder_of(t->tid)) == NULL)
				return t;
	return NULL;
}

void tracee_forget_all(struct session *s)
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		while (s->tracees[i] != NULL)
			tracee_forget(s, s->tracees[i]->tid);
}
