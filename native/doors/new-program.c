/*
 * What a program is that stands before its first instruction: its file, its words, and the files that it runs code from. Read
 * once, into the buffer: the policies judge these bytes, and the exec cache (exec-cache.c) keeps these.
 */
#define _GNU_SOURCE
#include "new-program.h"
#include "../kernel/procfs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Its words are longer than this only if there are very many. Then the policies read them themselves. */
enum { MAX_WORDS_SIZE = 128 * 1024, MAPS_SIZE = 64 * 1024 };

/* All of a file that /proc hands out in parts. Its length, or -1 when it is longer than `size` or cannot be read. */
static ssize_t read_whole(pid_t pid, const char *what, char *into, size_t size)
{
	int fd = procfs_open(pid, what, O_RDONLY);
	ssize_t done = 0, got = -1;
	while (fd >= 0 && (size_t)done < size && (got = read(fd, into + done, size - (size_t)done)) > 0)
		done += got;
	if (fd >= 0)
		close(fd);
	return got == 0 ? done : -1;
}

/* The file of a line of /proc/PID/maps whose memory may be executed, or NULL. */
static const char *executed_file(char *line)
{
	char *permissions = strchr(line, ' ');
	char *path = permissions == NULL ? NULL : strchr(permissions, '/');
	return path != NULL && permissions[3] == 'x' ? path : NULL;
}

/* The files of executable memory, each with its NUL; no two in a row are the same. Returns their length, or -1. */
static ssize_t read_code_files(pid_t pid, char *into, size_t size)
{
	static _Thread_local char maps[MAPS_SIZE];
	ssize_t length = read_whole(pid, "maps", maps, sizeof maps - 1);
	size_t used = 0;
	const char *last = "";
	if (length < 0)
		return -1;
	maps[length] = 0;
	for (char *line = maps, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = 0;
		const char *path = executed_file(line);
		if (path == NULL || strcmp(path, last) == 0)
			continue;
		size_t room = strlen(path) + 1;
		if (room > size - used)
			return -1;
		last = memcpy(into + used, path, room);
		used += room;
	}
	return (ssize_t)used;
}

static void fill(struct slot *slot, uint32_t *used, ssize_t length)
{
	*slot = (struct slot){ .offset = FETCH_OFFSET + *used, .length = (uint32_t)length };
	*used += (uint32_t)length;
}

uint32_t new_program_read(struct session *s, pid_t pid)
{
	struct slot *slots = s->event->slots;
	char *into = (char *)s->buffer + FETCH_OFFSET;
	uint32_t used = 0;
	ssize_t length = procfs_link(pid, "exe", into, PATH_MAX);
	if (length <= 0 || length == PATH_MAX)
		return 0;
	fill(&slots[NEW_PROGRAM_FILE], &used, length);
	length = read_code_files(pid, into + used, FETCH_SIZE - MAX_WORDS_SIZE - PATH_MAX);
	if (length < 0)
		return 0;
	fill(&slots[NEW_PROGRAM_CODE], &used, length);
	length = read_whole(pid, "cmdline", into + used, MAX_WORDS_SIZE);
	if (length < 0)
		return 0;
	fill(&slots[NEW_PROGRAM_WORDS], &used, length);
	return used;
}
