/* A server outside of the session that runs what it is told (outsider.c). */
#pragma once
#include "attack.h"

static UNUSED int told(const void *address, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char answer[16];
	const char *line = text("touch %s/ran", OUTSIDE, NULL);
	if (connect(fd, address, (socklen_t)size) < 0 || send(fd, line, strlen(line), 0) < 0)
		return 1;
	return recv(fd, answer, sizeof answer, 0) <= 0;
}
