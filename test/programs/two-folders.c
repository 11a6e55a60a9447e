/*
 * two-folders ALLOWED DENIED UMASK COUNT: goes from one folder to the other and reads "token" in each, and makes a file in
 * the first. Prints how often it read the one, the other, and made a file with another mode than its umask says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int reads(const char *folder)
{
	int fd = chdir(folder) < 0 ? -1 : open("token", O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int is_odd(mode_t mask)
{
	struct stat info = { 0 };
	char name[32];
	snprintf(name, sizeof name, "made-%d", (int)getpid());
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
	int odd = fd < 0 || fstat(fd, &info) < 0 || (info.st_mode & 0777) != (0666 & ~mask);
	close(fd);
	unlink(name);
	return odd;
}

int main(int argc, char **argv)
{
	int allowed = 0, denied = 0, odd = 0;
	if (argc != 5)
		return 2;
	mode_t mask = (mode_t)strtoul(argv[3], NULL, 8);
	umask(mask);
	for (int i = 0; i < atoi(argv[4]); i++) {
		allowed += reads(argv[1]);
		odd += is_odd(mask);
		denied += reads(argv[2]);
	}
	printf("%d %d %d\n", allowed, denied, odd);
	return 0;
}
