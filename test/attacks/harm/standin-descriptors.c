/*
 * While one thread connects without a pause, another looks for the processes that our parent starts to connect in our place,
 * and takes the descriptors that they share with it. Needs: root.
 */
#include "../peer.h"
static void *connect_for_ever(void *address)
{
	for (;;) {
		int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(client, address, sizeof(struct sockaddr_un));
		close(client);
	}
	return NULL;
}

static int take_from(pid_t pid)
{
	int pidfd = pid == getpid() ? -1 : (int)syscall(SYS_pidfd_open, pid, 0), taken = 0;
	for (int fd = 3; pidfd >= 0 && fd < 64 && !taken; fd++)
		taken = syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0;
	if (pidfd >= 0)
		close(pidfd);
	return taken;
}

static int take_from_children(pid_t pid)
{
	int taken = 0, child;
	DIR *threads = opendir(proc(pid, "task"));
	for (struct dirent *entry; threads != NULL && !taken && (entry = readdir(threads)) != NULL;) {
		FILE *children = fopen(text("%s/%s/children", proc(pid, "task"), entry->d_name), "r");
		while (children != NULL && !taken && fscanf(children, "%d", &child) == 1)
			taken = take_from(child);
		if (children != NULL)
			fclose(children);
	}
	if (threads != NULL)
		closedir(threads);
	return taken;
}

int main(void)
{
	struct sockaddr_un a = place();
	int server = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t thread;
	if (bind(server, (struct sockaddr *)&a, sizeof a) < 0 || listen(server, 4096) < 0 ||
	    pthread_create(&thread, NULL, connect_for_ever, &a) != 0)
		return 1;
	/* A bare run has nobody who connects in our place: there our parent will do. */
	for (int i = 0; i < attempts(); i++)
		if (take_from_children(broker()) || take_from(broker()))
			return broke("we have a descriptor of whoever connects");
	return 1;
}
