/* The memory of the verdict cache (protocol/verdict-cache.h). */
#define _GNU_SOURCE
#include "session.h"

#include <sys/mman.h>
#include <unistd.h>

int verdict_cache_create(void)
{
	int fd = memfd_create("hermes-verdicts", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(struct verdict_cache)) == 0)
		return fd;
	close(fd);
	return -1;
}

int session_map_verdict_cache(struct session *s, int file)
{
	void *map = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *s->verdict_cache, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return -1;
	s->verdict_cache = map;
	s->verdict_cache_fd = file;
	s->cwd_cache.exec_counter = &s->verdict_cache->exec_counter;
	atomic_store(&s->verdict_cache->exec_counter.execs, 1); /* 0 means never */
	return 0;
}
