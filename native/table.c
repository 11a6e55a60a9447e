/* The memory of the table of answers that stand. */
#define _GNU_SOURCE
#include "session.h"
#include "settled.h"

#include <sys/mman.h>
#include <unistd.h>

int settled_file(void)
{
	int fd = memfd_create("hermes-settled", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(struct settled)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The descriptor is the session's from now on. */
int settled_map(struct session *s, int file)
{
	void *map = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *s->settled, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return -1;
	s->settled = map;
	s->settled_file = file;
	s->origins.programs = &s->settled->programs;
	atomic_store(&s->settled->programs.execs, 1); /* 0 means never */
	return 0;
}
