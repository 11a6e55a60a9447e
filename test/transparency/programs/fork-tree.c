/* 2,000 processes as a tree; each exit status is made of those of its children. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int grow(int count) /* a tree of that many processes below us; returns a checksum */
{
	int sum = count, status;
	for (int branch = 0; branch < 4 && count > 0; branch++) {
		int share = (count + 3 - branch) / (4 - branch);
		count -= share;
		pid_t child = fork();
		if (child < 0) {
			perror("fork");
			exit(255);
		}
		if (child == 0)
			_exit(grow(share - 1) & 127);
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
			exit(254);
		sum = sum * 31 + WEXITSTATUS(status);
	}
	return sum;
}

int main(void)
{
	printf("%d\n", grow(2000));
	return 0;
}
