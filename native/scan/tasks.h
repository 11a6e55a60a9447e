/* Folders that a thread leaves to the others: a queue that ends when it is empty and all threads wait for it. */
#ifndef HERMES_TASKS_H
#define HERMES_TASKS_H

#include "file-system.h"
#include "folder.h"

#include <pthread.h>
#include <stddef.h>

enum { MAX_TASKS = 16 };

struct task {
	struct folder *folder;
	int fd; /* the folder, open */
	int depth;
	struct place place; /* of the folder above it */
	char *path;         /* the task owns it */
	size_t path_length;
};

struct tasks {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct task list[MAX_TASKS];
	unsigned first, count;
	unsigned threads, waiting;
	int over;
};

int tasks_open(struct tasks *tasks, unsigned threads);
void tasks_close(struct tasks *tasks);

/* A guess, without the lock: whether another thread will soon have nothing to do. */
int tasks_are_few(struct tasks *tasks);

/* Returns 0 if the queue is full. */
int tasks_put(struct tasks *tasks, const struct task *task);

/* Waits for a task. Returns 0 when no thread has one. */
int tasks_take(struct tasks *tasks, struct task *task);

/* One thread less: it could not be started. */
void tasks_without_thread(struct tasks *tasks);

#endif
