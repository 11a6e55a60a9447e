/*
 * The broker's fast-path threads wait at the listener. They answer the calls that the verdict cache allows
 * (verdict-lookup.c), and forward all others to the supervisor, which decides and has the broker make them
 * (broker/requests.c). One thread is enough for most programs. Where many threads or processes create files at the same
 * time, helper threads join, and rest again when the load falls. Only one of them waits at the listener at a time, because
 * the kernel would wake all.
 */
#define _GNU_SOURCE
#include "fast-path.h"
#include "../kernel/clock.h"
#include "../kernel/futex.h"
#include "../kernel/notification.h"
#include "../kernel/thread-fs.h"
#include "../kernel/wake-signal.h"
#include "../protocol/broker.h"
#include "cpu-affinity.h"
#include "verdict-lookup.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_THREADS = 4, WINDOW = 64, SOME_WAITED = WINDOW / 4, MOST_WAITED = WINDOW / 4 * 3, MAX_FORWARDED = WINDOW / 2 };
enum { ENOUGH_EXECS = 4 };
enum { AT_ONCE_NS = 2000, LONG_NS = 20 * 1000 };

/* Of the last calls: how many had to wait for another, how many were forwarded, and how long the others took. */
struct load_window {
	int seen;
	int waited;
	int forwarded;
	int64_t spent; /* nanoseconds */
};

struct fast_path;

struct fast_path_thread {
	struct fast_path *path;
	int is_first;
	struct cwd_cache cwd_cache;
	struct cpu_sharing sharing; /* of the first thread */
};

struct fast_path {
	int listener;
	int calls;
	uint32_t on_behalf_mark;
	struct verdict_cache *cache;
	int count;
	struct fast_path_thread threads[MAX_THREADS];
	pthread_mutex_t turn;   /* held by the thread that waits at the listener; guards the next two */
	struct load_window load;
	pid_t last_caller;
	int execs_in_a_row;     /* of the first thread */
	atomic_uint helping;    /* helper threads take part */
	atomic_int cannot_help; /* a helper thread cannot have its own umask and cwd */
	atomic_int busy;        /* how many threads answer a call now */
	atomic_int forwarded;   /* these two go into `load` when the next call comes */
	atomic_llong spent;
};

/* ------------------------------------------------------------------ whether helpers pay off */

/*
 * Adds a call. After a whole window of calls: 1 when helpers would pay off, -1 when not; 0 before. Waking another thread
 * costs as much as a short call, so with short calls nearly every call must have waited.
 */
static int load_window_add(struct load_window *load, int waited, int forwarded, int64_t spent)
{
	load->waited += waited;
	load->forwarded += forwarded;
	load->spent += spent;
	if (++load->seen < WINDOW)
		return 0;
	int64_t answered = WINDOW - (load->forwarded < WINDOW ? load->forwarded : WINDOW);
	int needed = load->waited >= MOST_WAITED || (load->waited >= SOME_WAITED && load->spent >= answered * LONG_NS);
	int pays_off = needed && load->forwarded <= MAX_FORWARDED;
	*load = (struct load_window){ 0 };
	return pays_off ? 1 : -1;
}

static void *thread_main(void *argument);

static int start(struct fast_path *f, struct fast_path_thread *self)
{
	pthread_t thread;
	self->path = f;
	self->is_first = self == &f->threads[0];
	self->cwd_cache.exec_counter = &f->cache->exec_counter;
	int failed = pthread_create(&thread, NULL, thread_main, self);
	return failed ? -failed : pthread_detach(thread);
}

static void start_helpers(struct fast_path *f)
{
	cpu_set_t cpus;
	int most = sched_getaffinity(0, sizeof cpus, &cpus) < 0 ? 1 : CPU_COUNT(&cpus);
	cpu_sharing_stop(&f->threads[0].sharing);
	while (f->count < (most < MAX_THREADS ? most : MAX_THREADS) && start(f, &f->threads[f->count]) == 0)
		f->count++;
	if (f->count < 2)
		return;
	atomic_store(&f->helping, 1);
	futex_wake(&f->helping);
}

/* The caller holds `turn`. */
static void note_load(struct fast_path *f, pid_t tid, int at_once)
{
	int waited = atomic_load(&f->busy) > 0 || (at_once && tid != f->last_caller);
	int pays_off = load_window_add(&f->load, waited, atomic_exchange(&f->forwarded, 0), atomic_exchange(&f->spent, 0));
	f->last_caller = tid;
	if (pays_off > 0 && !atomic_load(&f->helping) && !atomic_load(&f->cannot_help))
		start_helpers(f);
	else if (pays_off < 0 || atomic_load(&f->cannot_help))
		atomic_store(&f->helping, 0);
}

/* ------------------------------------------------------------------ a call */

/* A call that carries the mark was decided on at the trace door. */
static int answer_from_cache(struct fast_path_thread *self, const struct seccomp_notif *request, struct resolved_path *resolved)
{
	struct fast_path *f = self->path;
	struct cpu_sharing *sharing = self->is_first && !atomic_load(&f->helping) ? &self->sharing : NULL;
	const struct notified_call call = {
		.listener = f->listener, .id = request->id, .tid = (pid_t)request->pid, .nr = request->data.nr,
		.args = (const uint64_t *)request->data.args, .cache = f->cache, .cwd_cache = &self->cwd_cache,
		.sharing = sharing,
	};
	resolved->known = 0;
	if (request->data.args[ARGUMENTS - 1] >> 32 == f->on_behalf_mark || notification_is_foreign(request))
		return 0;
	if (sharing)
		cpu_sharing_on_call(sharing, call.tid, call.nr);
	return verdict_cache_answer(&call, resolved);
}

/*
 * Where one exec follows the other, we would only pass them on. Then the supervisor waits at the listener itself, until it gets
 * another call. Returns whether this call is our last: never while another thread of ours has a call, which would come later.
 */
static uint32_t hands_over(struct fast_path_thread *self, const struct seccomp_notif *request)
{
	struct fast_path *f = self->path;
	int alone = self->is_first && !atomic_load(&f->helping) && atomic_load(&f->busy) == 1;
	f->execs_in_a_row = alone && request->data.nr == SYS_execve ? f->execs_in_a_row + 1 : 0;
	int over = f->execs_in_a_row >= ENOUGH_EXECS && atomic_load(&f->cache->may_hand_over);
	if (over)
		atomic_store(&f->cache->supervisor_listens, 1);
	return (uint32_t)over;
}

/* If this fails the supervisor has gone, and the launcher ends the session. */
static void forward_to_supervisor(struct fast_path_thread *self, const struct seccomp_notif *request,
				  const struct resolved_path *resolved)
{
	struct forwarded_call head = { .request = *request, .is_last = hands_over(self, request) };
	struct iovec parts[] = { { &head, sizeof head },
				 { (void *)(uintptr_t)resolved->path, 0 },
				 { (void *)(uintptr_t)resolved->name, 0 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = sizeof parts / sizeof parts[0] };
	if (self->is_first)
		cpu_sharing_interrupt(&self->sharing);
	if (resolved->known) {
		head.known = 1;
		head.dirfd = resolved->dirfd;
		head.flags = resolved->flags;
		head.length = resolved->length;
		head.pin = resolved->pin;
		parts[1].iov_len = head.path_size = (uint32_t)strlen(resolved->path);
		parts[2].iov_len = head.name_size = resolved->length > 0 ? (uint32_t)resolved->length : 0;
	}
	while (sendmsg(self->path->calls, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void handle_call(struct fast_path_thread *self, const struct seccomp_notif *request)
{
	struct fast_path *f = self->path;
	struct resolved_path resolved;
	int64_t from = monotonic_ns();
	if (answer_from_cache(self, request, &resolved)) {
		atomic_fetch_add(&f->spent, monotonic_ns() - from);
	} else {
		atomic_fetch_add(&f->forwarded, 1);
		forward_to_supervisor(self, request, &resolved);
	}
	atomic_fetch_sub(&f->busy, 1);
}

/* Returns 1 for a call, 0 for none, -1 when no process with the filter is left. */
static int receive(struct fast_path_thread *self, struct seccomp_notif *request)
{
	struct fast_path *f = self->path;
	int64_t from = monotonic_ns();
	int failed = notification_receive(f->listener, request);
	if (failed == -EINTR && self->is_first)
		cpu_sharing_stop(&self->sharing);
	if (failed)
		return failed == -EINTR || (failed == -ENOENT && !listener_has_hung_up(f->listener)) ? 0 : -1;
	note_load(f, (pid_t)request->pid, monotonic_ns() - from < AT_ONCE_NS);
	atomic_fetch_add(&f->busy, 1);
	return 1;
}

/* ------------------------------------------------------------------ a thread */

static int prepare(struct fast_path_thread *self)
{
	struct fast_path *f = self->path;
	sigset_t others;
	sigfillset(&others);
	sigdelset(&others, WAKE_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &others, NULL);
	pthread_setname_np(pthread_self(), "hermes-fastpath");
	self->sharing = (struct cpu_sharing){ .state = &f->cache->cpu_sharing, .self = (pid_t)syscall(SYS_gettid),
					      .unwanted = !f->cache->may_share_cpu };
	return thread_fs_unshare(); /* files are created with the umask of the caller */
}

static void *thread_main(void *argument)
{
	struct fast_path_thread *self = argument;
	struct fast_path *f = self->path;
	struct seccomp_notif request;
	int got = 0;
	if (!prepare(self))
		atomic_store(&f->cannot_help, 1); /* the first thread goes on alone, and forwards calls that create files */
	while (got >= 0) {
		if (!self->is_first && !atomic_load(&f->helping)) {
			futex_wait(&f->helping, 0, 0);
			continue;
		}
		if (atomic_load(&f->cache->supervisor_listens)) {
			futex_wait_shared(&f->cache->supervisor_listens, 1);
			continue;
		}
		pthread_mutex_lock(&f->turn);
		got = self->is_first || atomic_load(&f->helping) ? receive(self, &request) : 0;
		pthread_mutex_unlock(&f->turn);
		if (got > 0)
			handle_call(self, &request);
	}
	shutdown(f->calls, SHUT_RDWR); /* tells the supervisor */
	return NULL;
}

int fast_path_start(int listener, int calls, uint32_t on_behalf_mark, struct verdict_cache *cache)
{
	struct fast_path *f = calloc(1, sizeof *f);
	if (f == NULL)
		return -ENOMEM;
	f->listener = listener;
	f->calls = calls;
	f->on_behalf_mark = on_behalf_mark;
	f->cache = cache;
	f->count = 1;
	int failed = pthread_mutex_init(&f->turn, NULL);
	return failed ? -failed : start(f, &f->threads[0]);
}
