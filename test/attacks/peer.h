/* The process that connects or sends when we do: a listener of our own asks the kernel for a pidfd of it. */
#pragma once
#include "attack.h"

#ifndef SO_PASSPIDFD /* Linux 6.5 */
#define SO_PASSPIDFD 76
#define SO_PEERPIDFD 77
#define SCM_PIDFD 4
#endif

static UNUSED pid_t pid_of(int pidfd)
{
	char path[64], line[256];
	int pid = -1;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	FILE *file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof line, file))
		sscanf(line, "Pid: %d", &pid);
	if (file != NULL)
		fclose(file);
	return pid;
}

static UNUSED struct sockaddr_un place(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strcpy(a.sun_path, "peer");
	unlink(a.sun_path);
	return a;
}

static UNUSED int peer_by_connecting(void)
{
	struct sockaddr_un a = place();
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), pidfd = -1;
	socklen_t size = sizeof pidfd;
	if (bind(server, (struct sockaddr *)&a, sizeof a) < 0 || listen(server, 1) < 0 ||
	    connect(client, (struct sockaddr *)&a, sizeof a) < 0)
		exit(1);
	int peer = accept(server, NULL, NULL);
	return getsockopt(peer, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) < 0 ? -1 : pidfd;
}

static UNUSED int peer_by_sending(void)
{
	struct sockaddr_un a = place();
	int server = socket(AF_UNIX, SOCK_DGRAM, 0), client = socket(AF_UNIX, SOCK_DGRAM, 0), yes = 1;
	char byte, control[256];
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	if (bind(server, (struct sockaddr *)&a, sizeof a) < 0 ||
	    setsockopt(server, SOL_SOCKET, SO_PASSPIDFD, &yes, sizeof yes) < 0 ||
	    sendto(client, "x", 1, 0, (struct sockaddr *)&a, sizeof a) != 1 || recvmsg(server, &message, 0) != 1)
		exit(1);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c != NULL; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_PIDFD)
			return *(int *)(void *)CMSG_DATA(c);
	return -1;
}

/* Nobody connects in our place in a bare run: then we ask for the pidfd by its number. */
static UNUSED int pidfd_of_supervisor(int peer)
{
	return peer >= 0 && pid_of(peer) != getpid() ? peer : (int)syscall(SYS_pidfd_open, supervisor(), 0);
}
