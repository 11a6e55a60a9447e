/* Opens argv[1] N times (argv[2] is a number) or until a file exists (argv[2] is its path), and prints how many
   opens were allowed and how many refused. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long allowed = 0, refused = 0;
	if (argc != 3)
		return 2;
	long wanted = atol(argv[2]);
	for (long n = 0; wanted ? n < wanted : n % 100 || access(argv[2], F_OK); n++) {
		int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			allowed++;
			close(fd);
		} else {
			refused++;
		}
	}
	printf("%ld %ld\n", allowed, refused);
	return 0;
}
