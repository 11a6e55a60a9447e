/* Runs some of its lines and not others: branches, a switch, a loop, a jump out of a function, a child that exits. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf out;

static int odd(int x) {
	return x % 2;
}

static int never(int x) {
	if (x)
		return 3;
	return 4;
}

static void leave(int x) {
	if (x > 2)
		longjmp(out, 1);
	puts("stayed");
}

static int choose(int x) {
	switch (x) {
	case 0: return 5;
	case 1: return 6;
	case 2: return 7;
	case 3: return 8;
	case 4: return 9;
	default: return 1;
	}
}

int main(int argc, char **argv) {
	int sum = argv[0] != NULL;
	for (int i = 0; i < 10; i++)
		sum += odd(i) ? choose(i) : 1;
	if (argc > 5)
		sum += never(argc);
	if (setjmp(out) == 0)
		leave(argc + 2);
	else
		sum++;
	if (argc > 1)
		puts("an argument");
	if (fork() == 0) {
		printf("child %d\n", sum);
		exit(7);
	}
	wait(NULL);
	printf("%d\n", sum);
	return 0;
}
