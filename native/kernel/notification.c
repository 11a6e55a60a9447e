/* See notification.h. */
#define _GNU_SOURCE
#include "notification.h"
#include "abi.h"

#include <errno.h>
#include <linux/audit.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

int notification_receive(int listener, struct seccomp_notif *request)
{
	memset(request, 0, sizeof *request); /* the kernel refuses a request that is not zeroed */
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, request) < 0 ? -errno : 0;
}

int notification_is_valid(int listener, uint64_t id)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void notification_respond(int listener, struct seccomp_notif_resp *response)
{
	while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, response) < 0 && errno == EINTR)
		;
}

void notification_continue(int listener, uint64_t id)
{
	struct seccomp_notif_resp response = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	notification_respond(listener, &response);
}

int notification_is_foreign(const struct seccomp_notif *request)
{
	return request->data.arch != AUDIT_ARCH_X86_64 || (uint32_t)request->data.nr >= X32_CALLS;
}

int listener_has_hung_up(int listener)
{
	struct pollfd fd = { listener, POLLIN, 0 };
	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}
