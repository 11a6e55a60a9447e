/*
 * Which file a Unix socket is bound to. We ask the kernel, because the path that the socket was bound by may lead
 * elsewhere by now.
 */
#define _GNU_SOURCE
#include "values.h"
#include "../tracee/fd-copy.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SIOCUNIXFILE
#define SIOCUNIXFILE 0x89e0 /* Linux 4.11 */
#endif

/* As TypeScript reads it: a socket's inode, and the file's inode and device as the kernel numbers them. */
struct row {
	uint32_t socket, inode, device;
};

enum { ANSWER_SIZE = 64 * 1024 };

/* boundFile(pid, fd, into): st_dev and st_ino of the file that a socket is bound to, or -errno; it takes CAP_NET_ADMIN */
static napi_value bound_file(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *into = bytes(&c, 2, &size);
	struct stat found;
	if (into == NULL || size < 2 * sizeof(uint64_t))
		return number(env, -EINVAL);
	int copy = copy_tracee_fd((pid_t)integer(&c, 0), (int)integer(&c, 1));
	if (copy < 0)
		return number(env, copy);
	int domain = 0, file = -1, failed = 0;
	socklen_t length = sizeof domain;
	/* The same ioctl number may mean something else to a socket of another family. */
	if (getsockopt(copy, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0 || domain != AF_UNIX)
		failed = ENOTTY;
	else if ((file = ioctl(copy, SIOCUNIXFILE)) < 0)
		failed = errno;
	if (!failed && fstat(file, &found) < 0)
		failed = errno;
	if (file >= 0)
		close(file);
	close(copy);
	if (!failed) {
		uint64_t both[2] = { found.st_dev, found.st_ino };
		memcpy(into, both, sizeof both);
	}
	return number(env, -failed);
}

/* Asks for all Unix sockets of our network namespace with the files that they are bound to: sock_diag(7). */
static int ask_for_sockets(int netlink)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = {
		.header = { .nlmsg_len = sizeof message, .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_VFS },
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	if (connect(netlink, (struct sockaddr *)&kernel, sizeof kernel) < 0) /* from then on only the kernel can answer */
		return -errno;
	ssize_t sent = send(netlink, &message, sizeof message, 0);
	return sent < 0 ? -errno : sent == (ssize_t)sizeof message ? 0 : -EIO;
}

/* One answer as a row. Returns 0 for a socket without a file. */
static int row_of(struct nlmsghdr *header, struct row *row)
{
	if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
		return 0;
	struct unix_diag_msg *message = NLMSG_DATA(header);
	struct rtattr *attribute = (struct rtattr *)(message + 1);
	int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof *message));
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		struct unix_diag_vfs file;
		if (attribute->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(attribute) < sizeof file)
			continue;
		memcpy(&file, RTA_DATA(attribute), sizeof file);
		*row = (struct row){ message->udiag_ino, file.udiag_vfs_ino, file.udiag_vfs_dev };
		return 1;
	}
	return 0;
}

/* Writes the rows that fit, and returns how many there are in all, or -errno. */
static int64_t take_rows(int netlink, uint8_t *rows, size_t room)
{
	_Alignas(struct nlmsghdr) uint8_t answer[ANSWER_SIZE];
	int64_t count = 0;
	for (;;) {
		ssize_t got = recv(netlink, answer, sizeof answer, MSG_TRUNC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || (size_t)got > sizeof answer)
			return got < 0 ? -errno : -EIO;
		int left = (int)got;
		for (struct nlmsghdr *h = (struct nlmsghdr *)answer; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			struct row row;
			if (h->nlmsg_type == NLMSG_DONE)
				return count;
			if (h->nlmsg_type == NLMSG_ERROR) {
				struct nlmsgerr *error = NLMSG_DATA(h);
				return h->nlmsg_len >= NLMSG_LENGTH(sizeof *error) && error->error < 0 ? error->error : -EIO;
			}
			if (!row_of(h, &row))
				continue;
			if ((size_t)(count + 1) * sizeof row <= room)
				memcpy(rows + (size_t)count * sizeof row, &row, sizeof row);
			count++;
		}
	}
}

/* boundSockets(into): every socket of our network namespace that is bound to a file */
static napi_value bound_sockets(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *into = bytes(&c, 0, &size);
	int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (into == NULL || netlink < 0) {
		int failed = netlink < 0 ? errno : EINVAL;
		if (netlink >= 0)
			close(netlink);
		return number(env, -failed);
	}
	int64_t result = ask_for_sockets(netlink);
	if (result == 0)
		result = take_rows(netlink, into, size);
	close(netlink);
	return number(env, result);
}

napi_status export_socket_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = { { "boundFile", bound_file }, { "boundSockets", bound_sockets } };
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
