/*
 * Who connects to us is not our child but whoever connects in its place: its pidfd (SO_PEERPIDFD) is the mediator's, and a
 * signal by it would end the session. Needs: mediator.
 */
#include "../attack.h"
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "here" };
	int server = socket(AF_UNIX, SOCK_STREAM, 0), pidfd = -1;
	socklen_t size = sizeof pidfd;
	if (bind(server, (struct sockaddr *)&a, sizeof a) < 0 || listen(server, 1) < 0)
		return 1;
	if (fork() == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		_exit(connect(fd, (struct sockaddr *)&a, sizeof a) < 0 || (pause(), 0));
	}
	int visitor = accept(server, NULL, NULL);
	if (getsockopt(visitor, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) < 0 || syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
		return 1;
	/* Our child is gone, or somebody else is: then it still waits. */
	for (int i = 0; i < 100; i++, usleep(10000))
		if (waitpid(-1, NULL, WNOHANG) > 0)
			return 1;
	return broke("the signal reached another process than our child");
}
