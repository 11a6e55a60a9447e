/*
 * What an attack needs: where the arena's things are, and how to show that it worked. An attack that cannot even be
 * tried ends with a status of 1; nothing that it prints counts but the secret, the forbidden program's own words, or
 * a line that begins with BROKE.
 */
#pragma once
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))
#ifndef ATTACKS /* the arena's own people do not */
#define ATTACKS 1
#endif
enum { BIG = 8192 };

/* No attack runs forever: what hangs after this is the mediator. That it began is said: one that never did was not held. */
__attribute__((constructor)) static void begin(void)
{
	alarm(20);
	if (ATTACKS && getenv("A_SECRET"))
		dprintf(1, "BEGAN\n");
}

/* A fork that is refused gives -1, and a signal to process -1 would reach everybody on the machine. */
static inline pid_t forked(void)
{
	pid_t pid = fork();
	if (pid < 0)
		exit(1);
	return pid;
}
#define fork forked

static inline const char *from_arena(const char *name)
{
	const char *value = getenv(name);
	if (value == NULL) {
		fprintf(stderr, "the arena has no %s\n", name);
		exit(1);
	}
	return value;
}

#define SECRET from_arena("A_SECRET")     /* ARENA/secret/token, or where a shipped policy has secrets: use name_of */
#define PUBLIC from_arena("A_PUBLIC")     /* ARENA/public/token: as long a name, and nothing secret */
#define OUTSIDE from_arena("A_OUTSIDE")   /* ARENA/outside: a folder that must stay as it is; it holds "file" */
#define ALLOWED from_arena("A_ALLOWED")   /* ARENA/allowed: the working directory, where all is allowed */
#define FORBIDDEN from_arena("A_FORBIDDEN") /* ARENA/tools/forbidden: a program that says so when it runs */
#define PERMITTED from_arena("A_PERMITTED") /* ARENA/tools/permitted: as long a name */
#define SOCKET_FILE from_arena("A_SOCKET") /* ARENA/server/socket */
#define ABSTRACT from_arena("A_ABSTRACT") /* the name of an abstract socket */
#define PORT ((uint16_t)atoi(from_arena("A_PORT"))) /* TCP and UDP, on 127.0.0.1 and ::1 */

/* Somebody outside of the session, and his child in another mount namespace (outsider.c). */
#define OUTSIDER ((pid_t)atoi(from_arena("A_OUTSIDER")))
#define HERMIT ((pid_t)atoi(from_arena("A_HERMIT")))
#define OUTSIDER_ADDRESS strtol(from_arena("A_OUTSIDER_ADDRESS"), NULL, 16)
#define OUTSIDER_LENGTH ((size_t)atoi(from_arena("A_OUTSIDER_LENGTH")))

static inline int attempts(void)
{
	return atoi(from_arena("A_ATTEMPTS"));
}

static UNUSED const char *text(const char *format, const char *a, const char *b)
{
	char *made;
	if (asprintf(&made, format, a, b) < 0)
		exit(1);
	return made;
}

static UNUSED const char *in(const char *folder, const char *name) { return text("%s/%s", folder, name); }
static UNUSED const char *outside_file(void) { return in(OUTSIDE, "file"); }

static UNUSED const char *folder_of(const char *path)
{
	char *copy = strdup(path);
	*strrchr(copy, '/') = 0;
	return copy;
}

static UNUSED const char *name_of(const char *path) { return strrchr(path, '/') + 1; }

/* From the folder above both: "secret/token", wherever this arena has it. */
static UNUSED const char *secret_from_above(void) { return in(name_of(folder_of(SECRET)), name_of(SECRET)); }

/* Prints what can be read there; the harness knows the secret when it sees it. */
static UNUSED int show(int fd)
{
	char bytes[BIG];
	ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
	if (size <= 0 || write(1, bytes, (size_t)size) != size)
		return 1;
	return 0;
}

static UNUSED int show_file(const char *path) { return show(open(path, O_RDONLY)); }

static UNUSED int broke(const char *what)
{
	dprintf(1, "BROKE %s\n", what);
	return 0;
}

static UNUSED int change(int fd) { return fd >= 0 && write(fd, "changed\n", 8) == 8 ? 0 : 1; }
static UNUSED int worked(long result) { return result < 0 ? 1 : 0; }

static UNUSED void put(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, content, strlen(content)) < 0)
		exit(1);
	close(fd);
}

static UNUSED void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (in < 0 || out < 0 || sendfile(out, in, NULL, 1 << 26) < 0)
		exit(1);
	close(in);
	close(out);
}

static UNUSED void run_file(const char *path)
{
	char *const words[] = { (char *)path, NULL };
	extern char **environ;
	execve(path, words, environ);
}

/* ------------------------------------------------------------------ who is above us */

static UNUSED pid_t parent_of(pid_t pid)
{
	char room[1024];
	snprintf(room, sizeof room, "/proc/%d/stat", (int)pid);
	int fd = open(room, O_RDONLY);
	ssize_t size = fd < 0 ? 0 : read(fd, room, sizeof room - 1);
	int above = 0;
	room[size > 0 ? size : 0] = 0;
	if (fd >= 0)
		close(fd);
	char *rest = strrchr(room, ')');
	return rest && sscanf(rest, ") %*c %d", &above) == 1 ? above : 0;
}

/* So many levels above us. In a pid namespace nobody is: 0 would be ourselves. */
static UNUSED pid_t levels_above(int levels)
{
	pid_t pid = getppid();
	for (int i = 1; i < levels && pid > 0; i++)
		pid = parent_of(pid);
	if (pid <= 0)
		exit(1);
	return pid;
}

/* The process that watches over us, and those between it and us, where there are any. Bare runs have stand-ins. */
static UNUSED pid_t supervisor(void) { return levels_above(atoi(from_arena("A_ABOVE"))); }
static UNUSED pid_t launcher(void) { return levels_above(atoi(from_arena("A_ABOVE")) - 1); }
static UNUSED pid_t broker(void) { return levels_above(1); }

static UNUSED const char *proc(pid_t pid, const char *name)
{
	char number[16];
	snprintf(number, sizeof number, "%d", (int)pid);
	return text("/proc/%s/%s", number, name);
}

/* Waits until they are gone or stopped, or long enough to believe that they are well. */
static UNUSED int is_down(pid_t pid)
{
	for (int i = 0; i < 50; i++) {
		char state = 0, room[512] = "";
		int fd = open(proc(pid, "stat"), O_RDONLY);
		if (fd < 0 && errno == ENOENT && kill(pid, 0) < 0 && errno == ESRCH)
			return 1;
		if (fd >= 0 && read(fd, room, sizeof room - 1) > 0 && strrchr(room, ')'))
			sscanf(strrchr(room, ')'), ") %c", &state);
		if (fd >= 0)
			close(fd);
		if (state == 'T' || state == 'Z')
			return 1;
		usleep(10000);
	}
	return 0;
}

/* ------------------------------------------------------------------ addresses */

static UNUSED struct sockaddr_in v4(const char *host)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

static UNUSED struct sockaddr_in6 v6(const char *host)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	inet_pton(AF_INET6, host, &a.sin6_addr);
	return a;
}

static UNUSED int reach(int fd, const void *address, size_t size)
{
	return connect(fd, (const struct sockaddr *)address, (socklen_t)size) < 0 ? 1 : (write(fd, "hello", 5), 0);
}

static UNUSED int reach_file(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	return reach(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a);
}
