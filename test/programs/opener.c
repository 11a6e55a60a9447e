/* Opens argv[1] until N opens were made (argv[2]) and prints how many were allowed and how many refused. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long allowed = 0, refused = 0;
	if (argc != 3)
		return 2;
	for (long n = atol(argv[2]); n > 0; n--) {
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
