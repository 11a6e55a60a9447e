/*
 * A program that names peculiar things in many calls: paths, addresses and a process that nobody could guess. Whoever watches
 * the supervisor sees which of them it names itself, on behalf of this program. What the calls give does not matter.
 * It says READY and waits for a byte before it begins.
 */
#define ATTACKS 0
#include "attack.h"
#include <linux/fs.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

static const char *name; /* unguessable, in the working directory */
static int number;

/* Another unguessable name for each call, so that none is known from before. */
static const char *next(const char *folder)
{
	char made[32];
	snprintf(made, sizeof made, "-%d", number++);
	return text(folder, name, made);
}

static void files(void)
{
	const char *file = next("%s%s"), *other = next("%s%s"), *folder = next("%s%s"), *link = next("%s%s");
	struct open_how how = { .flags = O_RDONLY };
	struct stat s;
	struct statfs fs;
	char bytes[BIG];
	close(open(file, O_WRONLY | O_CREAT, 0600));
	close(open(file, O_RDONLY));
	close(openat(open(".", O_PATH), file, O_RDONLY));
	close((int)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof how));
	close(open(next("/proc/self/cwd/%s%s"), O_RDONLY));
	close(open(next("/nowhere/%s%s"), O_RDONLY));
	close(open(text("%s/.azure/%s", from_arena("HOME"), name), O_RDONLY)); /* what policies deny */
	close(open(text("%s/papers/%s", from_arena("HOME"), name), O_WRONLY | O_CREAT, 0600));
	stat(file, &s);
	lstat(file, &s);
	access(file, R_OK);
	symlink(file, link);
	close(open(link, O_RDONLY));
	readlink(link, bytes, sizeof bytes);
	mkdir(folder, 0700);
	rename(file, other);
	rename(other, file);
	chmod(file, 0644);
	chown(file, getuid(), getgid());
	truncate(file, 1);
	utimensat(AT_FDCWD, file, NULL, 0);
	setxattr(file, "user.x", "x", 1, 0);
	getxattr(file, "user.x", bytes, sizeof bytes);
	statfs(file, &fs);
	inotify_add_watch(inotify_init(), file, IN_OPEN);
	mknod(next("%s%s"), S_IFIFO | 0600, 0);
	if (chdir(folder) < 0 || chdir("..") < 0)
		exit(1);
	rmdir(folder);
	unlink(link);
	unlink(file);
	run_file(next("./%s%s"));
}

static void addresses(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct sockaddr_un u = { .sun_family = AF_UNIX }, b = { .sun_family = AF_UNIX };
	struct iovec data = { "x", 1 };
	struct msghdr message = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &data, .msg_iovlen = 1 };
	inet_pton(AF_INET, from_arena("N_ADDRESS"), &a.sin_addr);
	strncpy(u.sun_path, next("%s%s"), sizeof u.sun_path - 1);
	strncpy(b.sun_path + 1, name, sizeof b.sun_path - 2);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a);
	sendto(udp, "x", 1, 0, (struct sockaddr *)&a, sizeof a);
	sendmsg(udp, &message, 0);
	bind(tcp, (struct sockaddr *)&a, sizeof a);
	bind(server, (struct sockaddr *)&u, sizeof u);
	listen(server, 1);
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&u, sizeof u);
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&b, sizeof b);
	unlink(u.sun_path);
}

static void processes(pid_t pid)
{
	char bytes[8];
	struct iovec here = { bytes, 8 }, there = { bytes, 8 };
	struct rlimit limit;
	kill(pid, 0);
	syscall(SYS_tgkill, pid, pid, 0);
	close(open(proc(pid, "environ"), O_RDONLY));
	close(open(proc(pid, "status"), O_RDONLY));
	close(open(proc(pid, "fd/0"), O_WRONLY | O_NONBLOCK));
	close(open(proc(pid, "cwd"), O_RDONLY));
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0);
	syscall(SYS_pidfd_getfd, pidfd, 0, 0);
	process_vm_readv(pid, &here, 1, &there, 1, 0);
	syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, NULL, &limit);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0)
		ptrace(PTRACE_DETACH, pid, 0, 0);
}

int main(void)
{
	char go;
	name = from_arena("N_NAME");
	dprintf(1, "READY\n");
	if (read(0, &go, 1) != 1)
		return 1;
	files();
	addresses();
	processes(atoi(from_arena("N_PID")));
	dprintf(1, "DONE\n");
	return 0;
}
