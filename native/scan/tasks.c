#define _GNU_SOURCE
#include "tasks.h"

#include <string.h>

int tasks_open(struct tasks *tasks, unsigned threads)
{
	memset(tasks, 0, sizeof *tasks);
	tasks->threads = threads;
	if (pthread_mutex_init(&tasks->mutex, NULL) != 0)
		return -1;
	if (pthread_cond_init(&tasks->changed, NULL) == 0)
		return 0;
	pthread_mutex_destroy(&tasks->mutex);
	return -1;
}

void tasks_close(struct tasks *tasks)
{
	pthread_cond_destroy(&tasks->changed);
	pthread_mutex_destroy(&tasks->mutex);
}

int tasks_are_few(struct tasks *tasks)
{
	unsigned threads = __atomic_load_n(&tasks->threads, __ATOMIC_RELAXED);
	return threads > 1 && __atomic_load_n(&tasks->count, __ATOMIC_RELAXED) < 2 * (threads - 1);
}

static void set_count(struct tasks *tasks, unsigned count)
{
	__atomic_store_n(&tasks->count, count, __ATOMIC_RELAXED);
}

int tasks_put(struct tasks *tasks, const struct task *task)
{
	pthread_mutex_lock(&tasks->mutex);
	int has_room = tasks->count < MAX_TASKS;
	if (has_room) {
		tasks->list[(tasks->first + tasks->count) % MAX_TASKS] = *task;
		set_count(tasks, tasks->count + 1);
		if (tasks->waiting > 0)
			pthread_cond_signal(&tasks->changed);
	}
	pthread_mutex_unlock(&tasks->mutex);
	return has_room;
}

static void end_if_all_wait(struct tasks *tasks)
{
	if (tasks->waiting < tasks->threads || tasks->count > 0)
		return;
	tasks->over = 1;
	pthread_cond_broadcast(&tasks->changed);
}

int tasks_take(struct tasks *tasks, struct task *task)
{
	pthread_mutex_lock(&tasks->mutex);
	tasks->waiting++;
	end_if_all_wait(tasks);
	while (tasks->count == 0 && !tasks->over)
		pthread_cond_wait(&tasks->changed, &tasks->mutex);
	int taken = tasks->count > 0;
	if (taken) {
		*task = tasks->list[tasks->first];
		tasks->first = (tasks->first + 1) % MAX_TASKS;
		set_count(tasks, tasks->count - 1);
		tasks->waiting--;
	}
	pthread_mutex_unlock(&tasks->mutex);
	return taken;
}

void tasks_without_thread(struct tasks *tasks)
{
	pthread_mutex_lock(&tasks->mutex);
	__atomic_store_n(&tasks->threads, tasks->threads - 1, __ATOMIC_RELAXED);
	end_if_all_wait(tasks);
	pthread_mutex_unlock(&tasks->mutex);
}
