/*
 * An opaque program: a "license checker" that does more than it claims. `npm start` builds it stripped; the policy
 * sees only its system calls. Prints one line per attempt, with its result.
 *
 * Usage: opaque_client FOLDER PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, int ok, const char *detail)
{
	printf("%s\t%s\t%s\n", what, ok ? "ok" : "failed", detail);
	fflush(stdout);
}

/* The first line of a file, or the error. */
static void read_file(const char *what, const char *path)
{
	char text[80];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (got < 0) {
		tell(what, 0, strerror(errno));
	} else {
		text[got] = 0;
		text[strcspn(text, "\n")] = 0;
		tell(what, 1, text);
	}
	if (fd >= 0)
		close(fd);
}

static void write_file(const char *what, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "I was here\n", 11) != 11)
		tell(what, 0, strerror(errno));
	else
		tell(what, 1, "written");
	if (fd >= 0)
		close(fd);
}

static struct sockaddr_in address(const char *host, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	inet_pton(AF_INET, host, &to.sin_addr);
	return to;
}

static void connect_to(const char *what, const char *host, int port)
{
	struct sockaddr_in to = address(host, port);
	char text[80] = "";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		tell(what, 0, strerror(errno));
	} else {
		ssize_t got = read(fd, text, sizeof text - 1);
		text[got < 0 ? 0 : got] = 0;
		text[strcspn(text, "\n")] = 0;
		tell(what, 1, text);
	}
	if (fd >= 0)
		close(fd);
}

static void send_datagram(const char *what, const char *host, int port)
{
	struct sockaddr_in to = address(host, port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, "beacon", 6, 0, (struct sockaddr *)&to, sizeof to) != 6)
		tell(what, 0, strerror(errno));
	else
		tell(what, 1, "sent");
	if (fd >= 0)
		close(fd);
}

static void run_shell(const char *what)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
		_exit(errno == 0 ? 126 : errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		tell(what, 0, strerror(errno));
	else if (!WIFEXITED(status))
		tell(what, 0, "killed");
	else
		tell(what, WEXITSTATUS(status) == 0, WEXITSTATUS(status) ? strerror(WEXITSTATUS(status)) : "a shell ran");
}

int main(int argc, char **argv)
{
	char path[512];
	struct utsname host;
	if (argc != 3)
		return 2;
	int port = atoi(argv[2]);

	snprintf(path, sizeof path, "%s/work/license.txt", argv[1]);
	read_file("read its own license", path);
	read_file("read /etc/passwd", "/etc/passwd");
	snprintf(path, sizeof path, "%s/secrets/token", argv[1]);
	read_file("read a secret token", path);
	snprintf(path, sizeof path, "%s/outside/dropped", argv[1]);
	write_file("write outside its folder", path);
	tell("learn the host's name", uname(&host) == 0, host.nodename);
	connect_to("reach 127.0.0.1 (update server)", "127.0.0.1", port);
	connect_to("reach 127.9.9.9 (restricted subnet)", "127.9.9.9", port);
	send_datagram("send a UDP beacon", "127.0.0.1", port);
	run_shell("start a shell");
	return 0;
}
