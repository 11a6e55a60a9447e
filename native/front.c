/*
 * The broker's place at the listener. Calls for which an answer stands (settled.c) are made here; all others go to the
 * supervisor, which decides and has the broker make them (broker.c). One thread is enough for most programs. Where many
 * threads or processes make files at the same time, others come to its help, and go when there is no crowd any more. One of
 * them waits at the listener at a time: the kernel would wake all.
 */
#define _GNU_SOURCE
#include "broker.h"
#include "futex.h"
#include "settled.h"
#include "standin.h"

#include <linux/audit.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST = 4, WINDOW = 64, SOME = WINDOW / 4, MANY = WINDOW / 4 * 3, LEFT = WINDOW / 2 };
enum { AT_ONCE_NS = 2000, LONG_NS = 20 * 1000 };

/* Of the last calls: how many waited for the one before, for how many no answer stood, how long the others took. */
struct crowd {
	int seen;
	int crowded;
	int left;
	int64_t spent; /* nanoseconds */
};

struct front;

struct post {
	struct front *front;
	int is_first;
	struct origins origins;
	struct place place; /* of the first */
};

struct front {
	int listener;
	int calls;
	uint32_t act_mark;
	struct settled *table;
	int count;
	struct post posts[MOST];
	pthread_mutex_t turn;  /* of waiting at the listener, and of what follows */
	struct crowd crowd;
	pid_t served;          /* whose call was received last */
	atomic_uint helped;    /* others than the first take part */
	atomic_int unfit;      /* one of them cannot */
	atomic_int busy;       /* so many answer a call now */
	atomic_int left;       /* what goes into `crowd` when the next call comes */
	atomic_llong spent;
};

/* ------------------------------------------------------------------ whether help is wanted */

/*
 * One more call. After some of them: whether others would be of use, 1 or -1. To wake another thread takes as long as a
 * short call: where they are short, there must be hardly ever nobody waiting.
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

static void *stand(void *argument);

static int start(struct front *f, struct post *post)
{
	pthread_t thread;
	post->front = f;
	post->is_first = post == &f->posts[0];
	post->origins.programs = &f->table->programs;
	int failed = pthread_create(&thread, NULL, stand, post);
	return failed ? -failed : pthread_detach(thread);
}

static void call_for_help(struct front *f)
{
	cpu_set_t cpus;
	int most = sched_getaffinity(0, sizeof cpus, &cpus) < 0 ? 1 : CPU_COUNT(&cpus);
	place_leave(&f->posts[0].place);
	while (f->count < (most < MOST ? most : MOST) && start(f, &f->posts[f->count]) == 0)
		f->count++;
	if (f->count < 2)
		return;
	atomic_store(&f->helped, 1);
	futex_wake(&f->helped);
}

/* While this thread has its turn. */
static void look_around(struct front *f, pid_t tid, int at_once)
{
	int waited = atomic_load(&f->busy) > 0 || (at_once && tid != f->served);
	int useful = crowd_has(&f->crowd, waited, atomic_exchange(&f->left, 0), atomic_exchange(&f->spent, 0));
	f->served = tid;
	if (useful > 0 && !atomic_load(&f->helped) && !atomic_load(&f->unfit))
		call_for_help(f);
	else if (useful < 0 || atomic_load(&f->unfit))
		atomic_store(&f->helped, 0);
}

/* ------------------------------------------------------------------ a call */

static int is_foreign(const struct seccomp_notif *request)
{
	enum { X32_CALLS = 0x40000000 };
	return request->data.arch != AUDIT_ARCH_X86_64 || (uint32_t)request->data.nr >= X32_CALLS;
}

/* What the trace door has sent to be made is decided already. */
static int answers(struct post *post, const struct seccomp_notif *request, struct found *found)
{
	struct front *f = post->front;
	struct place *place = post->is_first && !atomic_load(&f->helped) ? &post->place : NULL;
	const struct asked call = {
		.listener = f->listener, .id = request->id, .tid = (pid_t)request->pid, .nr = request->data.nr,
		.args = (const uint64_t *)request->data.args, .table = f->table, .origins = &post->origins, .place = place,
	};
	found->known = 0;
	if (request->data.args[ARGUMENTS - 1] >> 32 == f->act_mark || is_foreign(request))
		return 0;
	if (place)
		place_called(place, call.tid, call.nr);
	return settled_answers(&call, found);
}

/* Nobody is left who could decide when this fails: the launcher ends the session. */
static void leave_to_supervisor(struct post *post, const struct seccomp_notif *request, const struct found *found)
{
	struct passed_on passed = { .request = *request };
	struct iovec parts[] = { { &passed, sizeof passed }, { (void *)(uintptr_t)found->path, 0 }, { (void *)(uintptr_t)found->name, 0 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = sizeof parts / sizeof parts[0] };
	if (post->is_first)
		place_interrupt(&post->place);
	if (found->known) {
		passed.known = 1;
		passed.dirfd = found->dirfd;
		passed.flags = found->flags;
		passed.length = found->length;
		passed.pin = found->pin;
		parts[1].iov_len = passed.path_size = (uint32_t)strlen(found->path);
		parts[2].iov_len = passed.name_size = found->length > 0 ? (uint32_t)found->length : 0;
	}
	while (sendmsg(post->front->calls, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void see_to(struct post *post, const struct seccomp_notif *request)
{
	struct front *f = post->front;
	struct found found;
	int64_t from = look_time();
	if (answers(post, request, &found)) {
		atomic_fetch_add(&f->spent, look_time() - from);
	} else {
		atomic_fetch_add(&f->left, 1);
		leave_to_supervisor(post, request, &found);
	}
	atomic_fetch_sub(&f->busy, 1);
}

static int has_hung_up(int listener)
{
	struct pollfd fd = { listener, POLLIN, 0 };
	return poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP;
}

/* Returns 1 for a call, 0 for none, -1 when there is nobody left to make one. */
static int receive(struct post *post, struct seccomp_notif *request)
{
	struct front *f = post->front;
	memset(request, 0, sizeof *request); /* the kernel refuses a request that is not zeroed */
	int64_t from = look_time();
	if (ioctl(f->listener, SECCOMP_IOCTL_NOTIF_RECV, request) < 0) {
		if (errno == EINTR && post->is_first)
			place_leave(&post->place);
		return errno == EINTR || (errno == ENOENT && !has_hung_up(f->listener)) ? 0 : -1;
	}
	look_around(f, (pid_t)request->pid, look_time() - from < AT_ONCE_NS);
	atomic_fetch_add(&f->busy, 1);
	return 1;
}

/* ------------------------------------------------------------------ a thread */

static int prepare(struct post *post)
{
	struct front *f = post->front;
	sigset_t others;
	sigfillset(&others);
	sigdelset(&others, WAKE_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &others, NULL);
	pthread_setname_np(pthread_self(), "hermes-front");
	post->place = (struct place){ .told = &f->table->placed, .self = (pid_t)syscall(SYS_gettid),
				      .unwanted = !f->table->may_place };
	return view_make_own(); /* files are made with the umask of whoever they are made for */
}

static void *stand(void *argument)
{
	struct post *post = argument;
	struct front *f = post->front;
	struct seccomp_notif request;
	int got = 0;
	if (!prepare(post))
		atomic_store(&f->unfit, 1); /* the first goes on alone, and leaves to others what makes files */
	while (got >= 0) {
		if (!post->is_first && !atomic_load(&f->helped)) {
			futex_wait(&f->helped, 0, 0);
			continue;
		}
		pthread_mutex_lock(&f->turn);
		got = post->is_first || atomic_load(&f->helped) ? receive(post, &request) : 0;
		pthread_mutex_unlock(&f->turn);
		if (got > 0)
			see_to(post, &request);
	}
	shutdown(f->calls, SHUT_RDWR); /* so the supervisor knows */
	return NULL;
}

int front_open(int listener, int calls, uint32_t act_mark, struct settled *table)
{
	struct front *f = calloc(1, sizeof *f);
	if (f == NULL)
		return -ENOMEM;
	f->listener = listener;
	f->calls = calls;
	f->act_mark = act_mark;
	f->table = table;
	f->count = 1;
	int failed = pthread_mutex_init(&f->turn, NULL);
	return failed ? -failed : start(f, &f->posts[0]);
}
