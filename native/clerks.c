/*
 * Clerks: threads that answer calls for which an answer stands (settled.c), each with a buffer of its own. A program whose
 * threads or processes make files at the same time would else wait for the one worker that makes them in turn. They come
 * when the worker finds somebody waiting again and again, and go when there is no crowd any more. One of them waits at
 * the listener at a time: the kernel would wake all. What they cannot answer they leave to the worker, which waits for
 * stops meanwhile, and is interrupted for it as in both.c.
 */
#define _GNU_SOURCE
#include "clerks.h"
#include "futex.h"
#include "session.h"
#include "settled.h"
#include "standin.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 4, WINDOW = 64, SOME = WINDOW / 4, MANY = WINDOW / 4 * 3, LEFT = WINDOW / 2 };
enum { AT_ONCE_NS = 2000, LONG_NS = 20 * 1000 };
enum { PATIENCE_NS = 200 * 1000, LONG_PATIENCE_NS = 5 * 1000 * 1000 };

enum word { NOTHING, A_CALL, NO_MORE }; /* what a clerk has for the worker; NO_MORE: they go */

struct clerk {
	struct clerks *all;
	pthread_t thread;
	int running;
	struct session own; /* what it takes to receive and answer one call */
	struct seccomp_notif request;
	atomic_uint word;
};

struct clerks {
	struct session *session;
	int count;
	struct clerk each[MOST];
	atomic_uint ready;       /* so many have begun */
	atomic_int unfit;        /* one of them could not */
	atomic_uint at_work;
	atomic_int ends;
	atomic_int busy;         /* so many answer a call now */
	atomic_int worker_waits;
	pthread_mutex_t turn;    /* of waiting at the listener, and of what follows */
	struct crowd crowd;
	atomic_int left;         /* what goes into that when the next call comes */
	atomic_llong spent;
};

/* ------------------------------------------------------------------ a clerk */

/* Until the worker has it. A signal that comes just before it blocks is lost, and so is repeated. */
static void tell_worker(struct clerk *c, enum word word)
{
	struct clerks *all = c->all;
	atomic_store(&c->word, word);
	while (atomic_load(&c->word) == (unsigned int)word && !atomic_load(&all->ends)) {
		int waits = atomic_load(&all->worker_waits);
		if (waits)
			syscall(SYS_tgkill, getpid(), all->session->worker, WAKE_SIGNAL);
		futex_wait(&c->word, (unsigned int)word, waits ? PATIENCE_NS : LONG_PATIENCE_NS);
	}
}

/* Whether it is answered. What the trace door has sent to be made is the worker's. */
static int answers(struct clerk *c)
{
	struct session *own = &c->own;
	if (c->request.data.args[ARGUMENTS - 1] >> 32 == own->act_mark || notify_is_foreign(&c->request))
		return 0;
	return !notify_read(own, &c->request) || settled_answers(own);
}

/*
 * One more. After some of them: whether clerks would be of use, 1 or -1. To wake another thread takes as long as a short
 * call: where they are short, there must be hardly ever nobody waiting.
 */
static int crowd_has(struct crowd *crowd, int waited, int left, int64_t spent)
{
	crowd->crowded += waited;
	crowd->left += left;
	crowd->spent += spent;
	if (++crowd->seen < WINDOW)
		return 0;
	int64_t answered = WINDOW - (crowd->left < WINDOW ? crowd->left : WINDOW);
	int needed = crowd->crowded >= MANY || (crowd->crowded >= SOME && crowd->spent >= answered * LONG_NS);
	int useful = needed && crowd->left <= LEFT;
	*crowd = (struct crowd){ 0 };
	return useful ? 1 : -1;
}

/* Returns whether they go. */
static int assess(struct clerks *all, int at_once)
{
	int waited = at_once || atomic_load(&all->busy) > 0;
	return crowd_has(&all->crowd, waited, atomic_exchange(&all->left, 0), atomic_exchange(&all->spent, 0)) < 0;
}

/* Returns 1 for a call, 0 for none, -1 when there is nobody left to make one. */
static int receive(struct clerk *c, int *go)
{
	memset(&c->request, 0, sizeof c->request); /* the kernel refuses a request that is not zeroed */
	int64_t from = look_time();
	if (ioctl(c->own.listener, SECCOMP_IOCTL_NOTIF_RECV, &c->request) < 0)
		return errno == EINTR || (errno == ENOENT && !wait_hung_up(&c->own)) ? 0 : -1;
	*go = assess(c->all, look_time() - from < AT_ONCE_NS);
	atomic_fetch_add(&c->all->busy, 1);
	return 1;
}

static void see_to_call(struct clerk *c)
{
	struct clerks *all = c->all;
	int64_t from = look_time();
	if (answers(c)) {
		atomic_fetch_add(&all->spent, look_time() - from);
	} else {
		atomic_fetch_add(&all->left, 1);
		tell_worker(c, A_CALL);
	}
	atomic_fetch_sub(&all->busy, 1);
}

/* Waits for its turn, for a call, and sees to it. */
static void serve(struct clerk *c)
{
	struct clerks *all = c->all;
	int got = 0, go = 0;
	pthread_mutex_lock(&all->turn);
	if (atomic_load(&all->at_work) && !atomic_load(&all->ends))
		got = receive(c, &go);
	go |= got < 0;
	if (go)
		atomic_store(&all->at_work, 0);
	pthread_mutex_unlock(&all->turn);
	if (got > 0)
		see_to_call(c);
	if (go)
		tell_worker(c, NO_MORE);
}

static void *run(void *argument)
{
	struct clerk *c = argument;
	struct clerks *all = c->all;
	sigset_t every;
	sigfillset(&every);
	sigdelset(&every, WAKE_SIGNAL); /* it ends the wait at the listener */
	pthread_sigmask(SIG_SETMASK, &every, NULL);
	pthread_setname_np(pthread_self(), "hermes-clerk");
	if (!view_make_own()) /* files are made with the umask of whoever they are made for */
		atomic_store(&all->unfit, 1);
	atomic_fetch_add(&all->ready, 1);
	futex_wake(&all->ready);
	while (!atomic_load(&all->ends)) {
		if (atomic_load(&all->at_work))
			serve(c);
		else
			futex_wait(&all->at_work, 0, 0);
	}
	return NULL;
}

/* ------------------------------------------------------------------ that they come and go */

static int prepare(struct clerk *c, struct clerks *all)
{
	struct session *s = all->session, *own = &c->own;
	c->all = all;
	own->buffer = calloc(1, BUFFER_SIZE);
	if (own->buffer == NULL)
		return 0;
	own->event = (struct event *)own->buffer;
	own->answer = (struct answer *)(own->buffer + ANSWER_OFFSET);
	own->fetch_plan = s->fetch_plan;
	own->doors = 1 << DOOR_NOTIFY;
	own->act_mark = s->act_mark;
	own->listener = s->listener;
	own->plan = s->plan; /* to be looked at */
	own->settled = s->settled;
	own->socket = -1;
	own->origins.generation = s->origins.generation;
	c->running = pthread_create(&c->thread, NULL, run, c) == 0;
	return c->running;
}

/* Only where the worker has something else to wait for, and what they would work for is ours alone. */
static int are_possible(const struct session *s)
{
	return s->settled != NULL && s->doors == (1 << DOOR_NOTIFY | 1 << DOOR_TRACE) && !s->attached && !s->kept;
}

static struct clerks *hire(struct session *s)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof cpus, &cpus) < 0 ? 0 : CPU_COUNT(&cpus);
	struct clerks *all = count < 2 ? NULL : calloc(1, sizeof *all);
	if (all == NULL)
		return NULL;
	pthread_mutex_init(&all->turn, NULL);
	all->session = s;
	own_fds(); /* opened once for all */
	s->clerks = all;
	int hired = 1;
	for (; hired && all->count < (count < MOST ? count : MOST); all->count++)
		hired = prepare(&all->each[all->count], all);
	for (unsigned int ready; hired && (ready = atomic_load(&all->ready)) < (unsigned int)all->count;)
		futex_wait(&all->ready, ready, LONG_PATIENCE_NS);
	if (!hired || atomic_load(&all->unfit))
		clerks_close(s);
	return s->clerks;
}

void clerks_consider(struct session *s, pid_t tid, int64_t waited, int64_t spent)
{
	int useful = crowd_has(&s->crowd, waited < AT_ONCE_NS && tid != s->served, spent < 0, spent < 0 ? 0 : spent);
	s->served = tid;
	if (useful <= 0 || s->no_clerks || !are_possible(s))
		return;
	place_leave(s);
	if (s->clerks == NULL && hire(s) == NULL) {
		s->no_clerks = 1;
		return;
	}
	atomic_store(&s->clerks->at_work, 1);
	futex_wake(&s->clerks->at_work);
}

int clerks_at_work(const struct session *s)
{
	return s->clerks != NULL && atomic_load(&s->clerks->at_work);
}

int clerks_left(struct session *s, struct seccomp_notif *request)
{
	for (int i = 0; s->clerks != NULL && i < s->clerks->count; i++) {
		struct clerk *c = &s->clerks->each[i];
		unsigned int word = atomic_load(&c->word);
		if (word == NOTHING)
			continue;
		*request = c->request;
		atomic_store(&c->word, NOTHING);
		futex_wake(&c->word);
		if (word == A_CALL)
			return 1;
		s->at_listener = 1;
	}
	return 0;
}

int clerks_worker_waits(struct session *s)
{
	if (s->clerks == NULL)
		return 0;
	atomic_store(&s->clerks->worker_waits, 1);
	for (int i = 0; i < s->clerks->count; i++)
		if (atomic_load(&s->clerks->each[i].word) != NOTHING)
			return 1;
	return 0;
}

void clerks_worker_awake(struct session *s)
{
	if (s->clerks != NULL)
		atomic_store(&s->clerks->worker_waits, 0);
}

void clerks_close(struct session *s)
{
	struct clerks *all = s->clerks;
	if (all == NULL)
		return;
	atomic_store(&all->ends, 1);
	atomic_store(&all->at_work, 1); /* nobody sleeps on */
	futex_wake(&all->at_work);
	for (int i = 0; i < all->count; i++) {
		struct clerk *c = &all->each[i];
		while (c->running && pthread_tryjoin_np(c->thread, NULL) != 0) {
			for (int j = 0; j < all->count; j++) /* whose turn it is has to end first */
				if (all->each[j].running)
					pthread_kill(all->each[j].thread, WAKE_SIGNAL);
			usleep(PATIENCE_NS / 1000);
		}
		c->running = 0;
		origin_close(&c->own.origins);
		free(c->own.buffer);
	}
	pthread_mutex_destroy(&all->turn);
	free(all);
	s->clerks = NULL;
}
