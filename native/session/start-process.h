/* What launching a program and starting a keeper have in common. */
#ifndef HERMES_START_PROCESS_H
#define HERMES_START_PROCESS_H

#include <sys/types.h>

/* Starts a program with an empty environment that inherits these descriptors. Its pid, or -errno. */
pid_t start_process(const char *path, char *const argv[], const int *inherited, size_t count);
/* A memfd of this size, mapped at *map: the descriptor, or -errno. */
int share_memory(const char *name, size_t size, void **map);

#endif
