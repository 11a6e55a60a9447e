/*
 * Makes many small files: creates each under a temporary name, writes it, renames it, and removes every second one, as
 * compilers, package managers and editors do.
 *
 * Usage: files FOLDER COUNT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IN_A_FOLDER = 50, BYTES = 1000, PATH_BYTES = 64 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_file(long i, const char *content)
{
	char made[PATH_BYTES], name[PATH_BYTES];
	snprintf(made, sizeof made, "folder%ld/file%ld.tmp", i / IN_A_FOLDER, i);
	snprintf(name, sizeof name, "folder%ld/file%ld", i / IN_A_FOLDER, i);
	int file = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0)
		die(made);
	if (write(file, content, BYTES) != BYTES || close(file) != 0)
		die(made);
	if (rename(made, name) != 0 || (i % 2 == 1 && unlink(name) != 0))
		die(name);
}

int main(int argc, char **argv)
{
	if (argc != 3 || chdir(argv[1]) != 0) {
		fputs("usage: files FOLDER COUNT\n", stderr);
		return 2;
	}
	char content[BYTES];
	memset(content, 'x', sizeof content);
	long count = atol(argv[2]);
	for (long i = 0; i < count; i++) {
		char folder[PATH_BYTES];
		snprintf(folder, sizeof folder, "folder%ld", i / IN_A_FOLDER);
		if (i % IN_A_FOLDER == 0 && mkdir(folder, 0755) != 0)
			die(folder);
		make_file(i, content);
	}
	return 0;
}
