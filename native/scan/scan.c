#define _GNU_SOURCE
#include "scan.h"
#include "checksum.h"
#include "report.h"
#include "scan-memory.h"
#include "walk.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 4, FEW_FOLDERS = 1000, WORTH_WRITING = 64 };
/*
 * Two changes within one tick of the clock have the same time. So a folder is trusted only if its last change was old when
 * it was read.
 */
static const int64_t OLD_ENOUGH = 2000000000;

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t sum_of_request(const struct scan_request *q)
{
	uint64_t sum = checksum(3, q->roots.bytes, q->roots.size);
	sum = checksum(sum, q->skipped.bytes, q->skipped.size);
	return checksum(sum, q->names.bytes, q->names.size);
}

static uint64_t lengths_of(const struct texts *list)
{
	uint64_t lengths = 0;
	for (size_t at = 0; at < list->size; at += strlen(list->bytes + at) + 1)
		lengths |= (uint64_t)1 << strlen(list->bytes + at) % 64;
	return lengths;
}

static int open_walk(struct walk *walk, const struct scan_request *request, unsigned threads)
{
	memset(walk, 0, sizeof *walk);
	walk->request = request;
	walk->boot = boot_number();
	walk->skipped_lengths = lengths_of(&request->skipped);
	walk->trusted_until = nanoseconds(CLOCK_REALTIME) - OLD_ENOUGH;
	walk->deadline = nanoseconds(CLOCK_MONOTONIC) + (int64_t)request->max_milliseconds * 1000000;
	if (read_names(&walk->names, &request->names) == 0 && tasks_open(&walk->tasks, threads) == 0)
		return 0;
	free_names(&walk->names);
	return -1;
}

static void close_walk(struct walk *walk)
{
	tasks_close(&walk->tasks);
	free_names(&walk->names);
}

static unsigned count_threads(const struct folder *last)
{
	cpu_set_t cpus;
	if (last != NULL && last->subtree < FEW_FOLDERS)
		return 1;
	int count = sched_getaffinity(0, sizeof cpus, &cpus) < 0 ? 1 : CPU_COUNT(&cpus);
	return count < MAX_THREADS ? (unsigned)count : MAX_THREADS;
}

static void *run_walker(void *walker)
{
	walk_tasks(walker);
	return NULL;
}

/* Starts the other threads, without signals: those are for the thread that calls us. Returns how many. */
static unsigned start_threads(struct walk *walk, struct walker *walkers, pthread_t *ids, unsigned count)
{
	sigset_t all, before;
	unsigned started = 0;
	sigfillset(&all);
	int masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
	while (masked && started < count &&
	       pthread_create(&ids[started], NULL, run_walker, &walkers[started]) == 0)
		started++;
	if (masked)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (unsigned missing = count - started; missing > 0; missing--)
		tasks_without_thread(&walk->tasks);
	return started;
}

static void run_threads(struct walk *walk, struct walker *walkers, unsigned count, struct folder *roots)
{
	pthread_t ids[MAX_THREADS];
	unsigned started = start_threads(walk, walkers + 1, ids, count - 1);
	walk_roots(&walkers[0], roots);
	walk_tasks(&walkers[0]);
	for (unsigned i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
}

static void walk_and_report(struct walk *walk, struct folder *roots, unsigned threads, int has_memory, struct scan_result *result)
{
	struct walker walkers[MAX_THREADS] = { 0 };
	uint64_t learned = 0;
	int ready = 1;
	for (unsigned i = 0; i < threads; i++)
		ready &= walker_open(&walkers[i], walk) == 0;
	if (ready)
		run_threads(walk, walkers, threads, roots);
	for (unsigned i = 0; i < threads && ready; i++) {
		look_at_bounds(&walkers[i]);
		result->folders += walkers[i].folders;
		result->read += walkers[i].read;
		learned += walkers[i].learned;
	}
	result->complete = ready && !walk->incomplete && report(result, roots) == 0;
	/* To read a few folders again takes less time than to write the memory. */
	if (result->complete && (!has_memory || learned * WORTH_WRITING > result->folders))
		save_folders(&result->memory, roots, sum_of_request(walk->request));
	for (unsigned i = 0; i < threads; i++)
		walker_close(&walkers[i]);
}

void scan(const struct scan_request *request, struct scan_result *result)
{
	struct walk walk;
	struct folder *last = load_folders(request->memory, request->memory_size, sum_of_request(request));
	struct folder roots = last != NULL ? *last : (struct folder){ .name = "" };
	unsigned threads = count_threads(last);
	memset(result, 0, sizeof *result);
	if (open_walk(&walk, request, threads) == 0) {
		walk_and_report(&walk, &roots, threads, last != NULL, result);
		close_walk(&walk);
	}
	free(last);
}

void scan_free(struct scan_result *result)
{
	growing_free(&result->found);
	growing_free(&result->unlisted);
	growing_free(&result->memory);
}
