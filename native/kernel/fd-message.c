/* See fd-message.h. */
#define _GNU_SOURCE
#include "fd-message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

int fd_message_send(int socket, struct iovec *parts, size_t count, int descriptor)
{
	union control control = { .room = { 0 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
	if (descriptor >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof control.room;
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
	}
	ssize_t sent;
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

ssize_t fd_message_receive(int socket, void *into, size_t size, int flags, int *descriptor)
{
	union control control;
	struct iovec part = { into, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room,
				  .msg_controllen = sizeof control.room };
	ssize_t length = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(descriptor, CMSG_DATA(c), sizeof *descriptor);
	return length > 0 && message.msg_flags & MSG_TRUNC ? 0 : length;
}
