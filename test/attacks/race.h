/*
 * A race: somebody rewrites six to nine letters of a path, again and again, while it is used. Who does that is what
 * the attacks differ in.
 */
#pragma once
#include "attack.h"

struct race {
	volatile int over;
	double began, spent;
	char path[4096];
	size_t at;               /* where the two names differ */
	char good[16], bad[16];
	uint32_t spin;
};

/* Two paths of one length that differ in one component. */
static UNUSED struct race *race_of(const char *good, const char *bad)
{
	struct race *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t end = strlen(good);
	if (strlen(bad) != end || end >= sizeof r->path)
		exit(1);
	strcpy(r->path, good);
	while (good[r->at] == bad[r->at])
		r->at++;
	while (end > r->at && good[end - 1] == bad[end - 1])
		end--;
	memcpy(r->good, good + r->at, end - r->at);
	memcpy(r->bad, bad + r->at, end - r->at);
	return r;
}

static UNUSED void pause_a_little(struct race *r, unsigned longest)
{
	r->spin = r->spin * 1664525 + 1013904223;
	for (volatile unsigned i = 0; i < (r->spin >> 8) % longest; i++)
		;
}

/* Asked by whoever rewrites, before each round. */
static UNUSED int flipping(void *context)
{
	return !((struct race *)context)->over;
}

/* Asked by the victim: as often as wanted, and for half a second at least, since bare calls take no time. */
static UNUSED int goes_on(struct race *r, int done)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	double at = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (r->began == 0)
		r->began = at;
	r->spent = at - r->began;
	return done < attempts() || r->spent < 0.5;
}

/* The rewriter: works on memory that it shares with the victim. */
static UNUSED void *rewrite(void *context)
{
	struct race *r = context;
	while (flipping(r)) {
		memcpy(r->path + r->at, r->good, strlen(r->good));
		pause_a_little(r, 20000);
		memcpy(r->path + r->at, r->bad, strlen(r->bad));
		pause_a_little(r, 20000);
	}
	return NULL;
}

static UNUSED int rewrite_as_process(void *context)
{
	rewrite(context);
	_exit(0);
}

static UNUSED void start_thread(struct race *r)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, rewrite, r) != 0)
		exit(1);
}

/* Opens what a path says, until the secret comes out. */
static UNUSED int race_reads_of(struct race *r, const char *path)
{
	char bytes[256];
	for (int i = 0; goes_on(r, i); i++) {
		int fd = open(path, O_RDONLY);
		ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
		if (fd >= 0)
			close(fd);
		if (size > 5 && memcmp(bytes, "TOKEN", 5) == 0) {
			r->over = 1;
			return write(1, bytes, (size_t)size) == size ? 0 : 1;
		}
	}
	r->over = 1;
	return 1;
}

static UNUSED int race_reads(struct race *r)
{
	return race_reads_of(r, r->path);
}

static UNUSED __attribute__((noinline)) void run_once(const char *file)
{
	if (vfork() == 0) {
		run_file(file);
		_exit(1);
	}
	wait(NULL);
}

/* Runs a file, which may say that it ran. */
static UNUSED int race_runs(struct race *r, const char *file)
{
	for (int i = 0; i < attempts() / 10 + 100; i++)
		run_once(file);
	return r->over = 1, 0;
}

/* Binds sockets to an address. Where it leads where it should, `made` is what there is then. */
static UNUSED int race_binds(struct race *r, const struct sockaddr_un *a, const char *made)
{
	for (int i = 0; goes_on(r, i); i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		bind(fd, (const struct sockaddr *)a, sizeof *a);
		unlink(made);
		close(fd);
	}
	return r->over = 1, 0;
}

/* Two names that are exchanged until the race is over: a folder and a link, or two links. */
struct exchange {
	struct race *race;
	const char *one, *other;
	unsigned pause; /* between two of them, 0 for none */
};

static UNUSED void *exchange_names(void *context)
{
	struct exchange *e = context;
	while (flipping(e->race)) {
		syscall(SYS_renameat2, AT_FDCWD, e->one, AT_FDCWD, e->other, RENAME_EXCHANGE);
		if (e->pause > 0)
			pause_a_little(e->race, e->pause);
	}
	return NULL;
}

static UNUSED void start_exchange(struct race *r, const char *one, const char *other, unsigned pause)
{
	static struct exchange e;
	pthread_t thread;
	e = (struct exchange){ r, one, other, pause };
	if (pthread_create(&thread, NULL, exchange_names, &e) != 0)
		exit(1);
}

/* An address that is nowhere when it is looked at, and this machine when it is used. */
static UNUSED struct sockaddr_in flipped;

static UNUSED void *flip_address(void *context)
{
	struct sockaddr_in bad = v4("127.0.0.1");
	while (flipping(context)) {
		flipped.sin_addr.s_addr = 0xffffffff;
		pause_a_little(context, 20000);
		flipped.sin_addr = bad.sin_addr;
		pause_a_little(context, 20000);
	}
	return NULL;
}

static UNUSED struct race *start_address(void)
{
	struct race *r = race_of("a", "b");
	pthread_t thread;
	flipped = v4("127.0.0.1");
	if (pthread_create(&thread, NULL, flip_address, r) != 0)
		exit(1);
	return r;
}

/* Writes to what the path says. The harness looks whether something outside changed. */
static UNUSED int race_writes(struct race *r)
{
	for (int i = 0; goes_on(r, i); i++) {
		int fd = open(r->path, O_WRONLY | O_APPEND);
		if (fd >= 0) {
			change(fd);
			close(fd);
		}
	}
	r->over = 1;
	return 0;
}

/*
 * A flip: one thread swaps two states of a structure without a pause, while another makes the call. That finds a
 * structure that is read twice in a few tries, where a pause between the states hides it.
 */
struct flip {
	struct race *race;
	void *at;             /* what is swapped */
	size_t size;
	const void *good, *bad;
};

static UNUSED void *flip_without_pause(void *context)
{
	struct flip *f = context;
	while (!f->race->over) {
		memcpy(f->at, f->good, f->size);
		__asm__ volatile("" ::: "memory");
		memcpy(f->at, f->bad, f->size);
		__asm__ volatile("" ::: "memory");
	}
	return NULL;
}

/* `at` holds `size` bytes, which become those of `good` and of `bad` in turn until the race is over. */
static UNUSED struct race *start_flip(void *at, size_t size, const void *good, const void *bad)
{
	static struct flip f;
	pthread_t thread;
	f = (struct flip){ race_of("a", "b"), at, size, good, bad };
	memcpy(at, good, size);
	if (pthread_create(&thread, NULL, flip_without_pause, &f) != 0)
		exit(1);
	return f.race;
}

/* Five tries for each attempt of a race: 100,000 in `npm run attacks`; and never so long that the alarm rings. */
static UNUSED int flips_on(struct race *r, int done)
{
	return goes_on(r, done / 5) && r->spent < 12;
}
