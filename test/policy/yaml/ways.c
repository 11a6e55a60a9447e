/*
 * Every way we know to read or to change a file. Usage: ways read|write SECRET SCRATCH
 * Prints "name" for each way that worked. SCRATCH is a folder in which anything may be done.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *secret, *scratch;
static char spare[4096], folder[4096], base[256];

static int holds_secret(int fd)
{
	char text[16] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	return n > 0 && strncmp(text, "secret", 6) == 0;
}

static const char *fresh(void)
{
	static int count;
	snprintf(spare, sizeof spare, "%s/n%d-%d", scratch, (int)getpid(), count++);
	return spare;
}

static int open2(int dir, const char *path, uint64_t flags, uint64_t mode)
{
	struct open_how how = { .flags = flags, .mode = mode };
	return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

static int by_handle(int flags)
{
	struct { struct file_handle h; char room[128]; } handle = { .h.handle_bytes = 128 };
	int mount;
	if (name_to_handle_at(AT_FDCWD, secret, &handle.h, &mount, 0) < 0)
		return -1;
	int at = open(folder, O_RDONLY | O_DIRECTORY);
	return open_by_handle_at(at, &handle.h, flags);
}

static int through_proc(int flags)
{
	char path[64];
	int fd = open(secret, O_PATH);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, flags);
}

static int through_root(int flags)
{
	char path[5000];
	snprintf(path, sizeof path, "/proc/self/root%s", secret);
	return open(path, flags);
}

static int through_link(int flags)
{
	const char *link = fresh();
	return symlink(secret, link) < 0 ? -1 : open(link, flags);
}

static int through_hard_link(int flags)
{
	const char *name = fresh();
	return link(secret, name) < 0 ? -1 : open(name, flags);
}

static int relative(int flags)
{
	int dir = open(folder, O_PATH | O_DIRECTORY);
	return openat(dir, base, flags);
}

static int after_chdir(int flags)
{
	if (chdir(folder) < 0)
		return -1;
	return open(base, flags);
}

static int moved(int flags)
{
	const char *name = fresh();
	if (rename(secret, name) < 0)
		return -1;
	int fd = open(name, flags);
	rename(name, secret);
	return fd;
}

static int folder_moved(int flags)
{
	const char *name = fresh();
	char path[5000];
	if (rename(folder, name) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/%s", name, base);
	int fd = open(path, flags);
	rename(name, folder);
	return fd;
}

static int swapped(int flags)
{
	const char *name = fresh();
	close(open(name, O_CREAT | O_WRONLY, 0600));
	if (syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, secret, 2) < 0)
		return -1;
	int fd = open(name, flags);
	syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, secret, 2);
	return fd;
}

static int mounted(int flags)
{
	const char *name = fresh();
	char path[5000];
	mkdir(name, 0700);
	if (mount(folder, name, NULL, MS_BIND, NULL) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/%s", name, base);
	int fd = open(path, flags);
	umount2(name, MNT_DETACH);
	return fd;
}

static int plain(int flags) { return open(secret, flags); }
static int plain_openat(int flags) { return openat(AT_FDCWD, secret, flags); }
static int with_openat2(int flags) { return open2(AT_FDCWD, secret, (uint64_t)flags, 0); }

static const struct { const char *name; int (*open)(int flags); } OPENS[] = {
	{ "open", plain }, { "openat", plain_openat }, { "openat2", with_openat2 },
	{ "open_by_handle_at", by_handle }, { "/proc/self/fd", through_proc }, { "/proc/self/root", through_root },
	{ "symlink", through_link }, { "hard link", through_hard_link }, { "dirfd", relative },
	{ "chdir", after_chdir }, { "rename", moved }, { "rename of the folder", folder_moved },
	{ "RENAME_EXCHANGE", swapped }, { "bind mount", mounted },
};

/* Runs one way in a process of its own, so that none disturbs the next. */
static int tried(int (*way)(int), int flags)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(way(flags));
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int current;
static int read_way(int flags) { return holds_secret(OPENS[current].open(flags)) ? 0 : 1; }
static int write_way(int flags) { return OPENS[current].open(flags) >= 0 ? 0 : 1; }

static int do_creat(int x) { (void)x; return creat(secret, 0600) >= 0 ? 0 : 1; }
static int do_trunc(int x) { (void)x; return open(secret, O_RDONLY | O_TRUNC) >= 0 ? 0 : 1; }
static int do_truncate(int x) { (void)x; return truncate(secret, 3) == 0 ? 0 : 1; }
static int do_chmod(int x) { (void)x; return chmod(secret, 0644) == 0 ? 0 : 1; }
static int do_fchmod(int x) { (void)x; return fchmod(open(secret, O_RDONLY), 0644) == 0 ? 0 : 1; }
static int do_fchmodat2(int x) { (void)x; return syscall(452, AT_FDCWD, secret, 0644, 0) == 0 ? 0 : 1; }
static int do_chown(int x) { (void)x; return chown(secret, 1, 1) == 0 ? 0 : 1; }
static int do_fchown(int x) { (void)x; return fchown(open(secret, O_RDONLY), 1, 1) == 0 ? 0 : 1; }
static int do_utimensat(int x) { (void)x; return utimensat(AT_FDCWD, secret, NULL, 0) == 0 ? 0 : 1; }
static int do_futimens(int x) { (void)x; return futimens(open(secret, O_RDONLY), NULL) == 0 ? 0 : 1; }
static int do_setxattr(int x) { (void)x; return setxattr(secret, "user.x", "y", 1, 0) == 0 ? 0 : 1; }
static int do_fsetxattr(int x) { (void)x; return fsetxattr(open(secret, O_RDONLY), "user.x", "y", 1, 0) == 0 ? 0 : 1; }
static int do_unlink(int x) { (void)x; return unlink(secret) == 0 ? 0 : 1; }
static int do_unlinkat(int x) { (void)x; return unlinkat(open(folder, O_PATH), base, 0) == 0 ? 0 : 1; }
static int do_rename_over(int x)
{
	(void)x;
	const char *name = fresh();
	close(open(name, O_CREAT | O_WRONLY, 0600));
	return rename(name, secret) == 0 ? 0 : 1;
}
static int beside(char *into, const char *name)
{
	return snprintf(into, 5000, "%s/%s", folder, name) > 0;
}
static int do_create(int x) { (void)x; char p[5000]; beside(p, "c1"); return open(p, O_CREAT | O_RDONLY, 0600) >= 0 ? 0 : 1; }
static int do_tmpfile(int x) { (void)x; return open(folder, O_TMPFILE | O_RDWR, 0600) >= 0 ? 0 : 1; }
static int do_mkdir(int x) { (void)x; char p[5000]; beside(p, "c2"); return mkdir(p, 0700) == 0 ? 0 : 1; }
static int do_mknod(int x) { (void)x; char p[5000]; beside(p, "c3"); return mknod(p, S_IFIFO | 0600, 0) == 0 ? 0 : 1; }
static int do_symlink(int x) { (void)x; char p[5000]; beside(p, "c4"); return symlink("/x", p) == 0 ? 0 : 1; }
static int do_link(int x)
{
	(void)x;
	char p[5000];
	const char *name = fresh();
	close(open(name, O_CREAT | O_WRONLY, 0600));
	beside(p, "c5");
	return link(name, p) == 0 ? 0 : 1;
}
static int do_bind(int x)
{
	(void)x;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	if (snprintf(name.sun_path, sizeof name.sun_path, "%.100s/c6", folder) < 0)
		return 1;
	return bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name) == 0 ? 0 : 1;
}

static const struct { const char *name; int (*act)(int); } CHANGES[] = {
	{ "utimensat", do_utimensat }, { "futimens", do_futimens }, { "setxattr", do_setxattr },
	{ "fsetxattr", do_fsetxattr }, { "chmod", do_chmod }, { "fchmod", do_fchmod }, { "fchmodat2", do_fchmodat2 },
	{ "chown", do_chown }, { "fchown", do_fchown }, { "create beside", do_create }, { "O_TMPFILE", do_tmpfile },
	{ "mkdir", do_mkdir }, { "mknod", do_mknod }, { "symlink beside", do_symlink }, { "link beside", do_link },
	{ "bind", do_bind }, { "truncate", do_truncate }, { "O_TRUNC", do_trunc }, { "creat", do_creat },
	{ "rename over", do_rename_over }, { "unlinkat", do_unlinkat }, { "unlink", do_unlink },
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	int reads = strcmp(argv[1], "read") == 0;
	secret = argv[2];
	scratch = argv[3];
	const char *slash = strrchr(secret, '/');
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - secret), secret);
	snprintf(base, sizeof base, "%s", slash + 1);
	for (current = 0; current < (int)(sizeof OPENS / sizeof *OPENS); current++)
		if (tried(reads ? read_way : write_way, reads ? O_RDONLY : O_WRONLY))
			puts(OPENS[current].name);
	for (size_t i = 0; !reads && i < sizeof CHANGES / sizeof *CHANGES; i++)
		if (tried(CHANGES[i].act, 0))
			puts(CHANGES[i].name);
	return 0;
}
