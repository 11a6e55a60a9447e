/*
 * A minimal race-free supervisor by seccomp user notification: it pins the file of each openat, decides on its real
 * path, opens it through the pin, and passes the descriptor to the program. It supports what the measured programs
 * need: absolute paths of existing files. Usage: act LENGTH COMMAND…
 */
#define _GNU_SOURCE
#include "listen.h"
#include "path.h"

#include <fcntl.h>

/* A descriptor of the allowed file, or the error. */
static int open_for(const struct seccomp_notif *request)
{
	char path[PATH_ROOM], held[32], real[PATH_ROOM];
	if (!read_path((pid_t)request->pid, request->data.args[1], path) || path[0] != '/')
		return -EACCES;
	int pin = open(path, O_PATH | O_CLOEXEC);
	if (pin < 0)
		return -errno;
	snprintf(held, sizeof held, "/proc/self/fd/%d", pin);
	ssize_t length = readlink(held, real, sizeof real - 1);
	real[length < 0 ? 0 : length] = '\0';
	int fd = length > 0 && may_pass(real) ? open(held, (int)request->data.args[2] | O_CLOEXEC) : -1;
	int error = length > 0 && !may_pass(real) ? EACCES : errno;
	close(pin);
	return fd < 0 ? -error : fd;
}

static void decide(int listener, const struct seccomp_notif *request)
{
	int fd = open_for(request);
	if (fd < 0) {
		struct seccomp_notif_resp response = { .id = request->id, .error = fd };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
		return;
	}
	/* Fails when the caller has ended: then the descriptor is dropped. */
	struct seccomp_notif_addfd give = {
		.id = request->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (uint32_t)fd,
		.newfd_flags = (uint32_t)request->data.args[2] & O_CLOEXEC,
	};
	ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &give);
	close(fd);
}
