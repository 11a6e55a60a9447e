/*
 * Makes each call on paths, descriptors and sockets with many combinations of right and wrong arguments, and prints what the
 * kernel said and what the folder looked like afterwards. For each call two of its arguments vary at a time over all their
 * values; the others keep their first one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { PAGE = 4096, MAX_VALUES = 64, CALL_ARGUMENTS = 6 };

struct value {
	const char *name;
	uint64_t is;
};

static char long_name[300], long_path[5000], *edge, results[PAGE];

#define TEXT(text) { "\"" text "\"", (uint64_t)(uintptr_t)(text) }
#define FLAG(flag) { #flag, (uint64_t)(flag) }
#define END { NULL, 0 }

static struct value paths[MAX_VALUES] = {
	TEXT("file"), TEXT("missing"), TEXT("folder"), TEXT("link"), TEXT("dangling"), TEXT("folder-link"), TEXT("loop"), TEXT(""),
	TEXT("file/"), TEXT("folder/"), TEXT("link/"), TEXT("dangling/"), TEXT("folder-link/"), TEXT("missing/"), TEXT("file/x"),
	TEXT("missing/x"), TEXT("folder/x"), TEXT("folder-link/in"), TEXT("folder/in"), TEXT("."), TEXT(".."), TEXT("./"), TEXT("folder/."),
	TEXT("folder/.."), TEXT("/"), TEXT("//"), TEXT("/dev/null"), TEXT("fifo"), TEXT("socket"), TEXT("full"), TEXT("full/"),
	TEXT("file/."), TEXT("file/.."), TEXT("dangling/x"), TEXT("locked/in"), TEXT("secret"), TEXT("/proc/self/fd/11"),
	TEXT("/proc/self/exe"), TEXT("/proc/self/fd/99"), { "long name", 0 }, { "long path", 0 }, { "edge", 0 }, { "NULL", 0 }, { "bad", 8 }, END };

static struct value folders[MAX_VALUES] = { FLAG(AT_FDCWD), { "folder", 10 }, { "file", 11 }, { "O_PATH folder", 12 }, { "O_PATH file", 13 },
					    { "closed", 99 }, { "-1", (uint64_t)-1 }, { "high bits", 0xffffffff00000000ull | 10 },
					    { "removed", 14 }, { "pipe", 15 }, { "O_PATH link", 17 }, END };
static struct value descriptors[MAX_VALUES] = { { "file", 11 }, { "folder", 10 }, { "O_PATH folder", 12 }, { "O_PATH file", 13 }, { "closed", 99 },
						FLAG(AT_FDCWD), { "-1", (uint64_t)-1 }, { "pipe", 15 }, { "read-only", 16 }, { "socket", 20 }, END };
static struct value at_flags[MAX_VALUES], open_flags[MAX_VALUES], any_flags[MAX_VALUES];
static struct value modes[MAX_VALUES] = { { "0600", 0600 }, { "0", 0 }, { "07777", 07777 }, { "0170755", 0170755 }, { "-1", (uint64_t)-1 }, { "0x10000", 0x10000 }, END };
static struct value rights[MAX_VALUES] = { FLAG(R_OK), FLAG(F_OK), FLAG(W_OK), FLAG(X_OK), { "7", 7 }, { "8", 8 }, { "-1", (uint64_t)-1 }, END };
static struct value kinds[MAX_VALUES] = { FLAG(S_IFREG | 0644), { "0", 0 }, FLAG(S_IFIFO | 0600), FLAG(S_IFSOCK | 0600), FLAG(S_IFDIR | 0700),
					  FLAG(S_IFLNK | 0700), { "0170000", 0170000 }, END };
static struct value ids[MAX_VALUES] = { { "own", 0 }, { "-1", (uint64_t)-1 }, { "12345", 12345 }, END };
static struct value buffers[MAX_VALUES] = { { "buffer", 0 }, { "NULL", 0 }, { "bad", 8 }, { "edge", 0 }, END };
static struct value sizes[MAX_VALUES] = { { "100", 100 }, { "0", 0 }, { "1", 1 }, { "-1", (uint64_t)-1 }, { "1<<40", 1ull << 40 }, { "min", 1ull << 63 }, END };
static struct value masks[MAX_VALUES] = { { "basic", 0x7ff }, { "0", 0 }, { "all", 0xfff }, { "reserved", 0x80000000 }, { "-1", (uint64_t)-1 }, END };

static struct timespec spec_now[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } }, spec_omit[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } },
		       spec_set[2] = { { 1, 5 }, { 2, 6 } }, spec_bad[2] = { { 1, 5 }, { 2, 1000000000 } }, spec_mixed[2] = { { 0, UTIME_NOW }, { 2, 7 } };
static struct timeval val_set[2] = { { 1, 5 }, { 2, 6 } }, val_bad[2] = { { 1, -1 }, { 2, 6 } };
#define AT(thing) { #thing, (uint64_t)(uintptr_t)(thing) }
static struct value specs[MAX_VALUES] = { AT(spec_set), { "NULL", 0 }, AT(spec_now), AT(spec_omit), AT(spec_bad), AT(spec_mixed), { "bad", 8 }, END };
static struct value vals[MAX_VALUES] = { AT(val_set), { "NULL", 0 }, AT(val_bad), { "bad", 8 }, END };
static struct value attributes[MAX_VALUES] = { TEXT("user.a"), TEXT("user.none"), TEXT(""), TEXT("user."), TEXT("odd"), TEXT("trusted.a"),
					       TEXT("security.a"), TEXT("system.a"), { "long name", 0 }, { "NULL", 0 }, { "bad", 8 }, END };
static struct value set_flags[MAX_VALUES] = { { "0", 0 }, { "CREATE", 1 }, { "REPLACE", 2 }, { "both", 3 }, { "4", 4 }, { "-1", (uint64_t)-1 }, END };
static struct value short_sizes[MAX_VALUES] = { { "10", 10 }, { "0", 0 }, { "1", 1 }, { "65536", 65536 }, { "65537", 65537 }, { "-1", (uint64_t)-1 }, { "int-min", 0x80000000 }, END };
static struct value watch_masks[MAX_VALUES] = { FLAG(IN_MODIFY), { "0", 0 }, FLAG(IN_MODIFY | IN_ONLYDIR), FLAG(IN_MODIFY | IN_DONT_FOLLOW), FLAG(IN_MODIFY | IN_MASK_ADD | IN_MASK_CREATE),
						{ "0x10000", 0x10000 }, { "-1", (uint64_t)-1 }, END };
static struct value watchers[MAX_VALUES] = { { "inotify", 18 }, { "file", 11 }, { "closed", 99 }, { "O_PATH", 12 }, END };
static struct value handles[MAX_VALUES] = { { "handle", 0 }, { "NULL", 0 }, { "bad", 8 }, END };
static struct value allocate_modes[MAX_VALUES] = { { "0", 0 }, { "KEEP_SIZE", 1 }, { "PUNCH", 3 }, { "PUNCH only", 2 }, { "-1", (uint64_t)-1 }, { "0x1000", 0x1000 }, END };

/* Sockets: addresses with their lengths. */
static struct sockaddr_un un_path, un_missing, un_abstract, un_full, un_file, un_empty;
static struct sockaddr_in in_closed, in_any;
static struct sockaddr_storage no_family;
static struct sockaddr bad_family = { .sa_family = 77 };
static struct value addresses[MAX_VALUES] = { AT(&un_path), AT(&un_missing), AT(&un_abstract), AT(&un_full), AT(&un_file), AT(&un_empty), AT(&in_closed), AT(&in_any),
					      AT(&no_family), AT(&bad_family), { "NULL", 0 }, { "bad", 8 }, { "edge", 0 }, END };
static struct value lengths[MAX_VALUES] = { { "un", sizeof(struct sockaddr_un) }, { "in", sizeof(struct sockaddr_in) }, { "0", 0 }, { "1", 1 }, { "2", 2 }, { "3", 3 }, { "8", 8 }, { "15", 15 },
					    { "111", 111 }, { "128", 128 }, { "129", 129 }, { "-1", (uint64_t)-1 }, { "min", 0x80000000 }, END };
static struct value sockets[MAX_VALUES] = { { "unix stream", 20 }, { "unix datagram", 21 }, { "tcp", 22 }, { "udp", 23 }, { "pair", 24 }, { "file", 11 }, { "closed", 99 },
					    { "O_PATH", 13 }, { "listening", 26 }, { "udp6", 27 }, END };
static struct value send_flag_values[MAX_VALUES];
static struct value send_sizes[MAX_VALUES] = { { "4", 4 }, { "0", 0 }, { "3000000", 3000000 }, { "-1", (uint64_t)-1 }, END };
static struct iovec piece = { results, 4 }, bad_piece = { (void *)8, 4 };
static uint8_t odd_control[24] = { 3, 0 };
static struct msghdr plain_message = { .msg_iov = &piece, .msg_iovlen = 1 }, un_message = { &un_path, sizeof un_path, &piece, 1, NULL, 0, 0 },
		     missing_message = { &un_missing, sizeof un_missing, &piece, 1, NULL, 0, 0 }, many_pieces = { .msg_iov = &piece, .msg_iovlen = 5000 },
		     no_pieces = { .msg_iov = NULL, .msg_iovlen = 0 }, wrong_pieces = { .msg_iov = (void *)8, .msg_iovlen = 1 }, wrong_data = { .msg_iov = &bad_piece, .msg_iovlen = 1 },
		     long_address = { &un_path, 4000, &piece, 1, NULL, 0, 0 }, odd_message = { NULL, 0, &piece, 1, odd_control, sizeof odd_control, 0 },
		     wrong_control = { NULL, 0, &piece, 1, (void *)8, 24, 0 }, negative_address = { &un_path, (socklen_t)-1, &piece, 1, NULL, 0, 0 },
		     in_message = { &in_closed, sizeof in_closed, &piece, 1, NULL, 0, 0 };
static struct value messages[MAX_VALUES] = { AT(&plain_message), AT(&un_message), AT(&missing_message), AT(&many_pieces), AT(&no_pieces), AT(&wrong_pieces), AT(&wrong_data),
					     AT(&long_address), AT(&odd_message), AT(&wrong_control), AT(&negative_address), AT(&in_message), { "NULL", 0 }, { "bad", 8 }, END };
static struct mmsghdr several[3];
static struct value many[MAX_VALUES] = { AT(several), { "NULL", 0 }, { "bad", 8 }, END };
static struct value counts[MAX_VALUES] = { { "1", 1 }, { "0", 0 }, { "3", 3 }, { "5000", 5000 }, END };

/* openat2's structures */
static struct open_how hows[40];
static struct { struct open_how how; uint64_t more; } longer = { { .flags = O_NONBLOCK }, 1 }, longer_zero;
static struct value how_values[MAX_VALUES];
static struct value how_sizes[MAX_VALUES] = { { "24", 24 }, { "0", 0 }, { "8", 8 }, { "23", 23 }, { "25", 25 }, { "32", 32 }, { "4096", 4096 }, { "5000", 5000 }, { "-1", (uint64_t)-1 }, END };
static struct rlimit limit_same, limit_bad = { 10, 5 };
static struct value limits[MAX_VALUES] = { AT(&limit_same), AT(&limit_bad), { "NULL", 0 }, { "bad", 8 }, END };
static struct value resources[MAX_VALUES] = { FLAG(RLIMIT_CORE), { "99", 99 }, { "-1", (uint64_t)-1 }, END };
static struct value pids[MAX_VALUES] = { { "0", 0 }, { "own", 0 }, { "-1", (uint64_t)-1 }, { "none", 0x3ffffff }, END };
static struct value none[MAX_VALUES] = { { "0", 0 }, END };

struct row {
	const char *name;
	long nr;
	struct value *arguments[CALL_ARGUMENTS];
};

#define ROW(call, ...) { #call, SYS_##call, { __VA_ARGS__ } }
static const struct row ROWS[] = {
	ROW(open, paths, open_flags, modes), ROW(openat, folders, paths, open_flags, modes), ROW(creat, paths, modes),
	ROW(openat2, folders, paths, how_values, how_sizes),
	ROW(stat, paths, buffers), ROW(lstat, paths, buffers), ROW(newfstatat, folders, paths, buffers, at_flags),
	ROW(statx, folders, paths, at_flags, masks, buffers), ROW(statfs, paths, buffers),
	ROW(access, paths, rights), ROW(faccessat, folders, paths, rights), ROW(faccessat2, folders, paths, rights, at_flags),
	ROW(readlink, paths, buffers, short_sizes), ROW(readlinkat, folders, paths, buffers, short_sizes),
	ROW(mkdir, paths, modes), ROW(mkdirat, folders, paths, modes), ROW(mknod, paths, kinds, none), ROW(mknodat, folders, paths, kinds, none),
	ROW(unlink, paths), ROW(unlinkat, folders, paths, at_flags), ROW(rmdir, paths),
	ROW(rename, paths, paths), ROW(renameat, folders, paths, folders, paths), ROW(renameat2, folders, paths, folders, paths, any_flags),
	ROW(link, paths, paths), ROW(linkat, folders, paths, folders, paths, at_flags),
	ROW(symlink, paths, paths), ROW(symlinkat, paths, folders, paths),
	ROW(chmod, paths, modes), ROW(fchmodat, folders, paths, modes), ROW(fchmodat2, folders, paths, modes, at_flags),
	ROW(chown, paths, ids, ids), ROW(lchown, paths, ids, ids), ROW(fchownat, folders, paths, ids, ids, at_flags),
	ROW(truncate, paths, sizes), ROW(utime, paths, vals), ROW(utimes, paths, vals), ROW(futimesat, folders, paths, vals),
	ROW(utimensat, folders, paths, specs, at_flags),
	ROW(setxattr, paths, attributes, buffers, short_sizes, set_flags), ROW(lsetxattr, paths, attributes, buffers, short_sizes, set_flags),
	ROW(getxattr, paths, attributes, buffers, short_sizes), ROW(lgetxattr, paths, attributes, buffers, short_sizes),
	ROW(listxattr, paths, buffers, short_sizes), ROW(llistxattr, paths, buffers, short_sizes),
	ROW(removexattr, paths, attributes), ROW(lremovexattr, paths, attributes),
	ROW(fsetxattr, descriptors, attributes, buffers, short_sizes, set_flags), ROW(fremovexattr, descriptors, attributes),
	ROW(name_to_handle_at, folders, paths, handles, buffers, at_flags), ROW(inotify_add_watch, watchers, paths, watch_masks),
	ROW(fchmod, descriptors, modes), ROW(fchown, descriptors, ids, ids), ROW(ftruncate, descriptors, sizes),
	ROW(fallocate, descriptors, allocate_modes, sizes, sizes), ROW(chdir, paths),
	ROW(connect, sockets, addresses, lengths), ROW(bind, sockets, addresses, lengths),
	ROW(sendto, sockets, buffers, send_sizes, send_flag_values, addresses, lengths),
	ROW(sendmsg, sockets, messages, send_flag_values), ROW(sendmmsg, sockets, many, counts, send_flag_values),
	ROW(setrlimit, resources, limits), ROW(prlimit64, pids, resources, limits, buffers),
};

/* ------------------------------------------------------------------ what they are made on */

static int root;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(2);
}

static void empty(int folder)
{
	DIR *listed = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY));
	for (struct dirent *entry; listed && (entry = readdir(listed)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(folder, entry->d_name, 0) == 0)
			continue;
		int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		if (below < 0 && fchmodat(folder, entry->d_name, 0700, 0) == 0)
			below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		if (below >= 0) {
			fchmod(below, 0700);
			empty(below);
			close(below);
		}
		must(unlinkat(folder, entry->d_name, AT_REMOVEDIR) == 0, entry->d_name);
	}
	closedir(listed);
}

static void hold(int fd, int number)
{
	must(fd >= 0 && dup2(fd, number) == number, "dup2");
	if (fd != number)
		close(fd);
}

static void make_file(const char *name, const char *text)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), name);
	close(fd);
}

static void make_sockets(void)
{
	for (int i = 20; i < 28; i++)
		close(i);
	must(syscall(SYS_fchdir, root) == 0, "fchdir");
	hold(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), 20);
	hold(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), 21);
	hold(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), 22);
	hold(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), 23);
	int pair[2];
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0, "socketpair");
	hold(pair[0], 24);
	hold(pair[1], 25);
	hold(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), 26);
	unlinkat(root, "socket", 0);
	must(bind(26, (struct sockaddr *)&un_path, sizeof un_path) == 0 && listen(26, 64) == 0, "listen");
	hold(socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0), 27);
}

static void make_all(void)
{
	for (int i = 10; i < 18; i++)
		close(i);
	must(syscall(SYS_fchdir, root) == 0, "fchdir");
	must(chmod("..", 0755) == 0 && fchmod(root, 0755) == 0, "chmod");
	empty(root);
	make_file("file", "hello");
	make_file("secret", "x");
	must(chmod("secret", 0) == 0 && mkdir("folder", 0755) == 0 && mkdir("full", 0755) == 0, "folders");
	make_file("folder/in", "in");
	make_file("full/in", "in");
	must(symlink("file", "link") == 0 && symlink("nothing", "dangling") == 0 && symlink("folder", "folder-link") == 0 &&
		     symlink("loop", "loop") == 0 && mkfifo("fifo", 0644) == 0 && mkdir("locked", 0755) == 0 && mkdir("gone", 0755) == 0, "links");
	make_file("locked/in", "in");
	must(chmod("locked", 0) == 0, "locked");
	hold(open("folder", O_RDONLY | O_DIRECTORY), 10);
	hold(open("file", O_RDWR), 11);
	hold(open("folder", O_PATH), 12);
	hold(open("file", O_PATH), 13);
	hold(open("gone", O_RDONLY | O_DIRECTORY), 14);
	must(rmdir("gone") == 0, "rmdir");
	int ends[2];
	must(pipe(ends) == 0, "pipe");
	hold(ends[0], 15);
	close(ends[1]);
	hold(open("file", O_RDONLY), 16);
	hold(open("link", O_PATH | O_NOFOLLOW), 17);
	make_sockets();
}

/* What the folder looks like: names, kinds, modes, sizes, targets. */
static unsigned int look_of(int folder, int depth)
{
	unsigned int sum = 0;
	DIR *listed = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY));
	for (struct dirent *entry; listed && (entry = readdir(listed)) != NULL;) {
		char line[PAGE], target[256] = "";
		struct stat info;
		if (strcmp(entry->d_name, "..") == 0 || fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		ssize_t length = readlinkat(folder, entry->d_name, target, sizeof target - 1);
		target[length < 0 ? 0 : length] = 0;
		long set = info.st_mtim.tv_sec < 1000 ? (long)info.st_mtim.tv_nsec + info.st_mtim.tv_sec : -1;
		snprintf(line, sizeof line, "%d %s %o %ld %s %ld %u %u %lu", depth, entry->d_name, info.st_mode, S_ISDIR(info.st_mode) ? 0 : (long)info.st_size,
			 target, set, info.st_uid, info.st_gid, S_ISDIR(info.st_mode) ? 0 : info.st_nlink);
		unsigned int hash = 5381;
		for (char *at = line; *at; at++)
			hash = hash * 33 + (unsigned char)*at;
		sum += hash;
		int below = S_ISDIR(info.st_mode) && entry->d_name[0] != '.' ? openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) : -1;
		if (below >= 0) {
			sum += look_of(below, depth + 1);
			close(below);
		}
	}
	closedir(listed);
	return sum;
}

/* ------------------------------------------------------------------ the calls */

static unsigned int before, asked, step = 1, counted; /* only each `step`th combination is made */

static int makes_descriptor(long nr)
{
	return nr == SYS_open || nr == SYS_openat || nr == SYS_openat2 || nr == SYS_creat;
}

static int is_on_sockets(long nr)
{
	return nr == SYS_connect || nr == SYS_bind || nr == SYS_sendto || nr == SYS_sendmsg || nr == SYS_sendmmsg;
}

static int changes_nothing(const struct row *row)
{
	static const long QUIET[] = { SYS_stat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink, SYS_readlinkat,
				      SYS_getxattr, SYS_lgetxattr, SYS_listxattr, SYS_llistxattr, SYS_name_to_handle_at, SYS_setrlimit, SYS_prlimit64 };
	for (size_t i = 0; i < sizeof QUIET / sizeof QUIET[0]; i++)
		if (QUIET[i] == row->nr)
			return 1;
	return 0;
}

/* A device that was opened: only its flags are of interest. */
static void describe_descriptor(int fd)
{
	struct stat info;
	memset(&info, 0, sizeof info);
	fstat(fd, &info);
	printf(" is %o %ld flags %o cloexec %d", info.st_mode, S_ISREG(info.st_mode) ? (long)info.st_size : 0, fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	close(fd);
}

static void describe_result(const struct row *row, long result)
{
	if (makes_descriptor(row->nr)) {
		describe_descriptor((int)result);
		return;
	}
	if (row->nr == SYS_inotify_add_watch || row->nr == SYS_statfs)
		return;
	printf(" %ld", result);
	if (row->nr == SYS_stat || row->nr == SYS_lstat || row->nr == SYS_newfstatat)
		printf(" mode %o", ((struct stat *)(void *)results)->st_mode);
	if ((row->nr == SYS_readlink || row->nr == SYS_readlinkat || row->nr == SYS_getxattr) && result > 0)
		printf(" %.*s", (int)result, results);
}

/* A path outside our own folder: only for calls that change nothing. */
static int is_foreign(const char *name)
{
	return strncmp(name, "\"/", 2) == 0 && strncmp(name, "\"/proc/self/fd", 14) != 0;
}

static void make(const struct row *row, const int *chosen)
{
	uint64_t a[CALL_ARGUMENTS] = { 0 };
	if (counted++ % step)
		return;
	for (int i = 0; i < CALL_ARGUMENTS && row->arguments[i]; i++) {
		a[i] = row->arguments[i][chosen[i]].is;
		if (row->nr == SYS_creat && strcmp(row->arguments[i][chosen[i]].name, "\"fifo\"") == 0)
			return; /* it would wait for a reader */
		if (!changes_nothing(row) && !makes_descriptor(row->nr) && is_foreign(row->arguments[i][chosen[i]].name))
			return;
	}
	memset(results, 0, sizeof results);
	if (row->nr == SYS_name_to_handle_at)
		*(unsigned int *)(void *)results = 128;
	asked++;
	printf("%s(", row->name);
	for (int i = 0; i < CALL_ARGUMENTS && row->arguments[i]; i++)
		printf("%s%s", i ? ", " : "", row->arguments[i][chosen[i]].name);
	printf(") =");
	errno = 0;
	long result = syscall(row->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (result < 0)
		printf(" %s", strerrorname_np(errno));
	else
		describe_result(row, result);
	if (is_on_sockets(row->nr)) {
		make_sockets();
		unlinkat(root, "missing", 0);
		puts("");
		return;
	}
	struct stat info;
	must(fstat(root, &info) == 0 && (info.st_mode == (S_IFDIR | 0755) || fchmod(root, 0755) == 0), "our folder");
	must(syscall(SYS_fchdir, root) == 0, "fchdir");
	if (!changes_nothing(row)) {
		if (info.st_mode != (S_IFDIR | 0755))
			printf(" mode of the folder %o", info.st_mode);
		unsigned int after = look_of(root, 0);
		if (after != before) {
			printf(" changed %08x", after);
			make_all();
			before = look_of(root, 0);
		}
	}
	puts("");
}

static void make_pairs(const struct row *row)
{
	int count = 0, first = 0;
	while (count < CALL_ARGUMENTS && row->arguments[count])
		count++;
	for (int i = 0; i < count; i++)
		for (int k = i + 1; k < count || (count == 1 && k == 1); k++) {
			int chosen[CALL_ARGUMENTS] = { 0 };
			for (chosen[i] = 0; row->arguments[i][chosen[i]].name; chosen[i]++) {
				if (count == 1) {
					make(row, chosen);
					continue;
				}
				for (chosen[k] = 0; row->arguments[k][chosen[k]].name; chosen[k]++)
					if (first == 0 || chosen[i] + chosen[k] > 0)
						make(row, chosen);
			}
			first = 1;
		}
}

/* ------------------------------------------------------------------ values that are computed */

static void set(struct value *values, const char *name, uint64_t is)
{
	for (; values->name; values++)
		if (strcmp(values->name, name) == 0)
			values->is = is;
}

static void add(struct value *values, const char *format, uint64_t is)
{
	char *name = NULL;
	int at = 0;
	while (values[at].name)
		at++;
	must(at < MAX_VALUES - 1 && asprintf(&name, format, (unsigned long)is) > 0, "add");
	values[at] = (struct value){ name, is };
}

static void fill_flags(void)
{
	add(at_flags, "%#lx", 0);
	for (int bit = 0; bit < 32; bit++)
		add(at_flags, "%#lx", 1ull << bit);
	add(at_flags, "%#lx", AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
	add(at_flags, "%#lx", AT_SYMLINK_FOLLOW | AT_EMPTY_PATH);
	add(at_flags, "%#lx", 0x6000);
	add(at_flags, "%#lx", AT_SYMLINK_NOFOLLOW | AT_SYMLINK_FOLLOW);
	add(at_flags, "%#lx", 1ull << 32);
	for (int bits = 0; bits < 10; bits++)
		add(any_flags, "%#lx", (uint64_t)bits);
	add(any_flags, "%#lx", 0x80000000u);
	add(open_flags, "%#lo", O_NONBLOCK);
	for (int bit = 0; bit < 32; bit++)
		if (1u << bit != O_ASYNC && 1u << bit != O_NONBLOCK)
			add(open_flags, "%#lo", O_NONBLOCK | 1ull << bit);
	static const int PAIRS[] = { O_CREAT | O_EXCL, O_CREAT | O_DIRECTORY, O_CREAT | O_NOFOLLOW, O_DIRECTORY | O_NOFOLLOW, O_TMPFILE | O_RDWR, O_TMPFILE, O_TMPFILE | O_RDWR | O_EXCL, O_RDWR | O_TRUNC,
				     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, O_PATH | O_NOFOLLOW, O_PATH | O_DIRECTORY, O_PATH | O_CREAT, O_RDWR | O_DIRECTORY, O_CREAT | O_TRUNC | O_RDWR,
				     O_WRONLY | O_CREAT, O_ACCMODE, O_APPEND | O_TRUNC, O_CREAT | O_DIRECTORY | O_EXCL, O_WRONLY | O_APPEND | O_TRUNC, O_TMPFILE | O_RDWR | O_CREAT };
	for (size_t i = 0; i < sizeof PAIRS / sizeof PAIRS[0]; i++)
		add(open_flags, "%#lo", O_NONBLOCK | (uint64_t)PAIRS[i]);
	add(send_flag_values, "%#lx", MSG_NOSIGNAL | MSG_DONTWAIT);
	for (int bit = 0; bit < 32; bit++)
		if (1u << bit != MSG_NOSIGNAL && 1u << bit != MSG_DONTWAIT)
			add(send_flag_values, "%#lx", MSG_NOSIGNAL | MSG_DONTWAIT | 1ull << bit);
}

static void fill_hows(void)
{
	static const struct open_how WANTED[] = {
		{ .flags = O_RDONLY }, { .flags = O_RDONLY, .mode = 0600 }, { .flags = O_CREAT | O_WRONLY, .mode = 0600 }, { .flags = O_CREAT | O_WRONLY, .mode = 01777 }, { .flags = O_CREAT | O_WRONLY, .mode = 010000 },
		{ .flags = 1ull << 40 }, { .flags = 1u << 31 }, { .flags = O_RDONLY, .resolve = 1 << 7 }, { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH },
		{ .flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT }, { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH | RESOLVE_IN_ROOT }, { .flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS },
		{ .flags = O_RDONLY, .resolve = RESOLVE_NO_MAGICLINKS }, { .flags = O_RDONLY, .resolve = RESOLVE_NO_XDEV }, { .flags = O_RDONLY, .resolve = RESOLVE_CACHED },
		{ .flags = O_CREAT | O_RDWR, .resolve = RESOLVE_CACHED }, { .flags = O_TMPFILE | O_RDWR, .mode = 0600 }, { .flags = O_TMPFILE | O_RDWR, .mode = 0600, .resolve = RESOLVE_CACHED },
		{ .flags = O_PATH }, { .flags = O_PATH | O_RDWR }, { .flags = O_PATH | O_NOFOLLOW }, { .flags = O_DIRECTORY | O_NOFOLLOW }, { .flags = O_CREAT | O_DIRECTORY | O_RDWR, .mode = 0700 },
		{ .flags = O_CREAT | O_EXCL | O_RDWR, .mode = 0600, .resolve = RESOLVE_BENEATH }, { .flags = O_RDWR | O_TRUNC }, { .flags = O_PATH | O_CREAT }, { .flags = O_RDONLY, .resolve = 1ull << 33 },
		{ .flags = O_CREAT | O_RDWR, .mode = 0600, .resolve = RESOLVE_IN_ROOT } };
	for (size_t i = 0; i < sizeof WANTED / sizeof WANTED[0]; i++) {
		char *name = NULL;
		hows[i] = WANTED[i];
		if (!(hows[i].flags & O_PATH))
			hows[i].flags |= O_NONBLOCK;
		must(asprintf(&name, "{%#llo, %#llo, %#llx}", hows[i].flags, hows[i].mode, hows[i].resolve) > 0, "name");
		how_values[i] = (struct value){ name, (uint64_t)(uintptr_t)&hows[i] };
	}
	add(how_values, "longer %#lx", (uint64_t)(uintptr_t)&longer);
	add(how_values, "longer, zero %#lx", (uint64_t)(uintptr_t)&longer_zero);
	add(how_values, "NULL", 0);
	add(how_values, "bad", 8);
	how_values[sizeof WANTED / sizeof WANTED[0]].name = "longer";
	how_values[sizeof WANTED / sizeof WANTED[0] + 1].name = "longer, zero";
}

static void fill_addresses(void)
{
	struct { struct sockaddr_un *at; const char *path; } NAMES[] = { { &un_path, "socket" }, { &un_missing, "missing" }, { &un_file, "file" }, { &un_empty, "" } };
	for (size_t i = 0; i < 4; i++) {
		NAMES[i].at->sun_family = AF_UNIX;
		strcpy(NAMES[i].at->sun_path, NAMES[i].path);
	}
	un_abstract.sun_family = un_full.sun_family = AF_UNIX;
	snprintf(un_abstract.sun_path + 1, 40, "arguments-%d", getpid());
	memset(un_full.sun_path, 'x', sizeof un_full.sun_path);
	in_closed = (struct sockaddr_in){ AF_INET, htons(1), { htonl(INADDR_LOOPBACK) }, { 0 } };
	in_any = (struct sockaddr_in){ AF_INET, 0, { 0 }, { 0 } };
	for (int i = 0; i < 3; i++)
		several[i].msg_hdr = i == 1 ? un_message : plain_message;
}

static void fill(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(pages != MAP_FAILED && munmap(pages + PAGE, PAGE) == 0, "mmap");
	edge = pages + PAGE - 4;
	memcpy(edge, "file", 4);
	memset(long_name, 'n', sizeof long_name - 1);
	for (size_t i = 0; i < sizeof long_path - 1; i++)
		long_path[i] = i % 2 ? '/' : '.';
	set(paths, "long name", (uint64_t)(uintptr_t)long_name);
	set(paths, "long path", (uint64_t)(uintptr_t)long_path);
	set(paths, "edge", (uint64_t)(uintptr_t)edge);
	set(addresses, "edge", (uint64_t)(uintptr_t)edge);
	set(attributes, "long name", (uint64_t)(uintptr_t)long_name);
	set(buffers, "buffer", (uint64_t)(uintptr_t)results);
	set(buffers, "edge", (uint64_t)(uintptr_t)edge);
	set(handles, "handle", (uint64_t)(uintptr_t)results);
	set(ids, "own", getuid());
	set(pids, "own", (uint64_t)getpid());
	must(getrlimit(RLIMIT_CORE, &limit_same) == 0, "getrlimit");
	longer_zero.how.flags = O_NONBLOCK;
	fill_flags();
	fill_hows();
	fill_addresses();
}

/* A number: only each so many of the combinations. Names: only these calls. */
int main(int count, char **words)
{
	static char output[1 << 16];
	if (count > 1 && atoi(words[1]) > 1)
		step = (unsigned int)atoi(words[1]);
	setvbuf(stdout, output, _IOFBF, sizeof output);
	int outer = open(".", O_RDONLY | O_DIRECTORY);
	/* Two folders: the outer one is what `..` changes. */
	must(mkdir("arguments", 0755) == 0 && mkdir("arguments/in", 0755) == 0 && chdir("arguments/in") == 0 &&
		     (root = open(".", O_RDONLY | O_DIRECTORY)) >= 0, "arguments");
	hold(root, 30);
	root = 30;
	signal(SIGXFSZ, SIG_IGN);
	umask(022);
	fill();
	hold(inotify_init1(IN_NONBLOCK), 18); /* once: closing one waits for the whole kernel */
	make_all();
	before = look_of(root, 0);
	for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
		int wanted = count < 2 + (step > 1);
		for (int k = 1; k < count; k++)
			wanted |= strcmp(words[k], ROWS[i].name) == 0;
		if (wanted)
			make_pairs(&ROWS[i]);
	}
	empty(root);
	must(fchdir(outer) == 0 && chmod("arguments", 0755) == 0 && chmod("arguments/in", 0755) == 0 && rmdir("arguments/in") == 0 && rmdir("arguments") == 0,
	     "rmdir");
	printf("%u calls\n", asked);
	return 0;
}
