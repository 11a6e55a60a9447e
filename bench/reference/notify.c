/*
 * A minimal supervisor by seccomp user notification: it reads the path of each openat, checks that the caller still
 * exists, refuses a prefix, and lets the kernel continue the rest. It has a race: the kernel reads the path again, and
 * another thread may have changed it. Usage: notify LENGTH COMMAND…
 */
#define _GNU_SOURCE
#include "listen.h"
#include "path.h"

static void decide(int listener, const struct seccomp_notif *request)
{
	struct seccomp_notif_resp response = { .id = request->id };
	uint64_t id = request->id;
	int passes = path_passes((pid_t)request->pid, request->data.args[1]);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0)
		return;
	if (passes)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else
		response.error = -EACCES;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}
