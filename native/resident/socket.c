/* See socket.h. */
#define _GNU_SOURCE
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* As src/record/store/state-folder.ts has it. Only absolute paths: whoever starts it may be in another folder. */
static int state_folder(char *into, size_t size)
{
	const char *own = getenv("HERMES_HOME"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int length;
	if (own != NULL && *own)
		length = snprintf(into, size, "%s", own);
	else if (state != NULL && *state)
		length = snprintf(into, size, "%s/hermes", state);
	else if (home != NULL && *home)
		length = snprintf(into, size, "%s/.local/state/hermes", home);
	else
		return -ENOENT;
	return length >= (int)size ? -ENAMETOOLONG : into[0] == '/' ? 0 : -ENOENT;
}

int own_folder(char *into, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", into, size - 1);
	if (length <= 0 || length >= (ssize_t)size - 1)
		return -1;
	into[length] = 0;
	char *slash = strrchr(into, '/');
	if (slash == NULL)
		return -1;
	slash[1] = 0;
	return 0;
}

/* The same files, unchanged, are the same build. */
static int name_build(char *into, size_t size)
{
	static const char *const files[] = { "hermes-resident", "hermes.node", "../cli/stand-in.cjs", "../../package.json" };
	char folder[PATH_MAX], path[PATH_MAX + 32];
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	if (own_folder(folder, sizeof folder) < 0)
		return -ENOENT;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct stat info;
		snprintf(path, sizeof path, "%s%s", folder, files[i]);
		if (stat(path, &info) < 0)
			return -errno;
		const uint64_t facts[] = { info.st_dev, info.st_ino, (uint64_t)info.st_size, (uint64_t)info.st_mtim.tv_sec,
					   (uint64_t)info.st_mtim.tv_nsec };
		for (size_t b = 0; b < sizeof facts; b++)
			hash = (hash ^ ((const uint8_t *)facts)[b]) * 0x100000001b3;
	}
	snprintf(into, size, "%016lx", hash);
	return 0;
}

static int is_private(int folder)
{
	struct stat info;
	return fstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 077) == 0;
}

int place_open(struct place *p, int make)
{
	char state[PATH_MAX], path[PATH_MAX + 16];
	p->folder = -1;
	int failed = state_folder(state, sizeof state);
	if (failed || (failed = name_build(p->name, sizeof p->name)))
		return failed;
	snprintf(path, sizeof path, "%s/resident", state);
	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	if (!is_private(folder)) {
		close(folder);
		return -EPERM;
	}
	p->folder = folder;
	return 0;
}

struct sockaddr_un place_address(const struct place *p, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%.64s", p->folder, name);
	return address;
}

int place_connect(const struct place *p, pid_t *listener)
{
	struct sockaddr_un address = place_address(p, p->name);
	struct ucred peer;
	struct stat info;
	socklen_t size = sizeof peer;
	if (fstatat(p->folder, p->name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
		return -EPERM;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int failed = connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
	if (!failed && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		failed = errno;
	if (!failed && (peer.uid != geteuid() || peer.pid <= 0))
		failed = EPERM;
	if (failed) {
		close(fd);
		return -failed;
	}
	*listener = peer.pid;
	return fd;
}
