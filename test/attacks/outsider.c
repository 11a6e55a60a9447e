/*
 * Somebody outside of the session who runs as the same user: what an attack must not touch, and who notices if it does.
 * It has a secret in its environment, its memory, nameless files and queues, a pipe as its stdin, a terminal of its own,
 * sockets on which it runs what it is told, and a child in another mount namespace (the hermit).
 *
 * The first line that it prints says where all that is, as NAME=VALUE words. Every further line is something that happened
 * to it. It ends when its first descriptor (the harness's end) does.
 */
#define ATTACKS 0
#include "attack.h"
#include <poll.h>
#include <pty.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <termios.h>

enum { STREAM, ABSTRACT_STREAM, DATAGRAM, TERMINAL, KEYS, STDIN, HARNESS, ALL };

static char changeable[64] = "as it was";
static struct rlimit files;
static int niceness, score;
static char name[32];
static cpu_set_t cpus;

static void signalled(int number)
{
	char line[] = "a signal came: ..\n";
	line[15] = (char)('0' + number / 10);
	line[16] = (char)('0' + number % 10);
	write(1, line, sizeof line - 1);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = signalled, .sa_flags = SA_RESTART };
	for (int number = 1; number < 65; number++)
		if (number != SIGKILL && number != SIGSTOP && number != SIGCHLD && number != SIGPIPE && number != SIGSEGV && number != SIGBUS && number != SIGWINCH && number != SIGTRAP)
			sigaction(number, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int number_in(const char *path)
{
	char room[32] = "";
	int fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, room, sizeof room - 1) < 0)
		return -1;
	close(fd);
	return atoi(room);
}

static void remember(void)
{
	getrlimit(RLIMIT_NOFILE, &files);
	niceness = getpriority(PRIO_PROCESS, 0);
	score = number_in("/proc/self/oom_score_adj");
	prctl(PR_GET_NAME, name);
	sched_getaffinity(0, sizeof cpus, &cpus);
}

/* What was done to it that it did not hear of. */
static void compare(void)
{
	struct rlimit files_now;
	cpu_set_t cpus_now;
	char name_now[32];
	getrlimit(RLIMIT_NOFILE, &files_now);
	prctl(PR_GET_NAME, name_now);
	sched_getaffinity(0, sizeof cpus_now, &cpus_now);
	if (files_now.rlim_cur != files.rlim_cur)
		puts("its limits were changed");
	if (getpriority(PRIO_PROCESS, 0) != niceness)
		puts("its priority was changed");
	if (number_in("/proc/self/oom_score_adj") != score)
		puts("its oom score was changed");
	if (strcmp(name, name_now) != 0)
		puts("its name was changed");
	if (!CPU_EQUAL(&cpus, &cpus_now))
		puts("its CPUs were changed");
	if (strcmp(changeable, "as it was") != 0)
		puts("its memory was changed");
}

static int listener(int type, const char *path, int is_abstract)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strncpy(a.sun_path + is_abstract, path, sizeof a.sun_path - 2);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)is_abstract + strlen(path));
	if (bind(fd, (struct sockaddr *)&a, size) < 0 || (type == SOCK_STREAM && listen(fd, 8) < 0))
		exit(3);
	return fd;
}

/* A server of commands, as those of terminal multiplexers and editors are. */
static void serve(int fd, int is_stream)
{
	char line[BIG] = "";
	int visitor = is_stream ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : fd;
	struct timeval soon = { .tv_sec = 2 };
	setsockopt(visitor, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
	if (recv(visitor, line, sizeof line - 1, 0) > 0) {
		printf("it was told to run: %s\n", line);
		if (is_stream && system(line) >= 0)
			send(visitor, "done\n", 5, MSG_NOSIGNAL);
	}
	if (is_stream)
		close(visitor);
}

static int say(const char *path, const char *words)
{
	int fd = open(path, O_WRONLY), is_said = fd >= 0 && write(fd, words, strlen(words)) > 0;
	close(fd);
	return is_said;
}

/* A process whose files nobody else can name: a tmpfs in a mount namespace of its own. */
static pid_t hermit(const char *folder, const char *token)
{
	int ready[2];
	char answer = 0;
	if (pipe(ready) < 0)
		exit(3);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
		char map[64];
		snprintf(map, sizeof map, "%d %d 1", (int)geteuid(), (int)geteuid());
		if (unshare(flags) == 0 && (flags == CLONE_NEWNS || (say("/proc/self/uid_map", map) && say("/proc/self/setgroups", "deny") && say("/proc/self/gid_map", map))) &&
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("none", folder, "tmpfs", 0, NULL) == 0) {
			put(in(folder, "token"), token);
			answer = chdir(folder) == 0;
		}
		write(ready[1], &answer, 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &answer, 1) != 1)
		answer = 0;
	close(ready[0]);
	return answer ? pid : 0;
}

static int unnamed(const char *token)
{
	char path[] = "/tmp/hermes-outsider-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || unlink(path) < 0 || write(fd, token, strlen(token)) < 0)
		exit(3);
	return fd;
}

static int in_memory(const char *token)
{
	int fd = memfd_create("outsider", 0);
	if (fd < 0 || write(fd, token, strlen(token)) < 0)
		exit(3);
	return fd;
}

static int queue(const char *token)
{
	struct {
		long type;
		char text[128];
	} message = { .type = 1 };
	strcpy(message.text, token);
	int id = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
	return msgsnd(id, &message, sizeof message.text, IPC_NOWAIT) < 0 ? -1 : id;
}

static mqd_t posix_queue(const char *path, const char *token)
{
	struct mq_attr sizes = { .mq_maxmsg = 2, .mq_msgsize = 128 };
	mqd_t id = mq_open(path, O_RDWR | O_CREAT, 0600, &sizes);
	if (id >= 0)
		mq_send(id, token, strlen(token), 0);
	return id;
}

static void watch(struct pollfd *on)
{
	char bytes[BIG];
	for (;;) {
		if (poll(on, ALL, -1) < 0)
			continue;
		int busy = 0;
		for (int i = 0; i < HARNESS; i++) {
			if (!(on[i].revents & POLLIN))
				continue;
			busy = 1;
			if (i <= DATAGRAM)
				serve(on[i].fd, i != DATAGRAM);
			else if (read(on[i].fd, bytes, sizeof bytes) > 0)
				puts(i == TERMINAL ? "its terminal was written to" : i == KEYS ? "its terminal was typed on" : "its stdin was written to");
		}
		fflush(stdout);
		if (!busy && on[HARNESS].revents)
			return;
	}
}

int main(void)
{
	alarm(0);
	const char *server = folder_of(from_arena("A_DAEMON")), *token = from_arena("HIDDEN");
	char *secret = strdup(token), terminal[64] = "";
	const char *path = text("/hermes-%s", token + 6, NULL), *abstract = text("hermes-daemon-%s", token + 6, NULL);
	int master, slave, ends[2], harness = dup(0);
	struct termios raw;
	setsid();
	if (harness < 0 || openpty(&master, &slave, terminal, NULL, NULL) < 0 || pipe(ends) < 0 || dup2(ends[0], 0) < 0)
		return 3;
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	ioctl(slave, TIOCSCTTY, 0);
	umask(0077);
	pid_t alone = hermit(from_arena("A_HERMITAGE"), token);
	int memory = in_memory(token), gone = unnamed(token), messages = queue(token);
	mqd_t posix = posix_queue(path, token);
	struct pollfd on[ALL] = {
		[STREAM] = { listener(SOCK_STREAM, from_arena("A_DAEMON"), 0), POLLIN, 0 },
		[ABSTRACT_STREAM] = { listener(SOCK_STREAM, abstract, 1), POLLIN, 0 },
		[DATAGRAM] = { listener(SOCK_DGRAM, in(server, "datagrams"), 0), POLLIN, 0 },
		[TERMINAL] = { master, POLLIN, 0 },
		[KEYS] = { slave, POLLIN, 0 },
		[STDIN] = { 0, POLLIN, 0 },
		[HARNESS] = { harness, POLLIN, 0 },
	};
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0);
	if (chdir(folder_of(SECRET)) < 0)
		return 3;
	remember();
	catch_signals();
	printf("A_OUTSIDER=%d A_OUTSIDER_MEMORY=%d A_OUTSIDER_GONE=%d A_OUTSIDER_ADDRESS=%p A_OUTSIDER_LENGTH=%zu "
	       "A_OUTSIDER_CHANGEABLE=%p A_OUTSIDER_MAP=%lx-%lx A_OUTSIDER_TERMINAL=%s A_OUTSIDER_QUEUE=%d A_OUTSIDER_POSIX=%s "
	       "A_HERMIT=%d A_DAEMON_ABSTRACT=%s A_DAEMON_DATAGRAM=%s\n",
	       (int)getpid(), memory, gone, (void *)secret, strlen(secret), (void *)changeable, (unsigned long)map, (unsigned long)map + 4096,
	       terminal, messages, path, (int)alone, abstract, in(server, "datagrams"));
	fflush(stdout);
	watch(on);
	compare();
	fflush(stdout);
	struct msqid_ds left;
	if (messages >= 0 && (msgctl(messages, IPC_STAT, &left) < 0 || left.msg_qnum != 1))
		puts("its queue was touched");
	msgctl(messages, IPC_RMID, NULL);
	mq_close(posix);
	mq_unlink(path);
	if (alone > 0)
		kill(alone, SIGKILL);
	return 0;
}
