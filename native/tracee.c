/* The threads under the trace door, by number. */
#define _GNU_SOURCE
#include "broker.h"
#include "session.h"

#include <stdio.h>
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

void tracee_forget_act(struct session *s, struct tracee *t)
{
	if (t->act == NULL)
		return;
	broker_discard(t->act);
	t->act = NULL;
	s->acting--;
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
		tracee_forget_act(s, t);
		free(t->pending);
		free(t);
		return;
	}
}

/* The first of which that is true. */
struct tracee *tracee_next(struct session *s, int (*wanted)(const struct tracee *t))
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i]; t != NULL; t = t->next)
			if (wanted(t))
				return t;
	return NULL;
}

/* The process that a thread is of, or the parent of a process; 0 when it is gone itself. */
static pid_t elder_of(pid_t tid)
{
	char path[40], line[256];
	int tgid = 0, parent = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *status = fopen(path, "re");
	if (status == NULL)
		return 0;
	while (fgets(line, sizeof line, status) != NULL && sscanf(line, "PPid: %d", &parent) != 1)
		sscanf(line, "Tgid: %d", &tgid);
	fclose(status);
	return tgid == tid ? parent : tgid;
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
