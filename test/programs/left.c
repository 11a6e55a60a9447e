/* Calls that end otherwise than by returning: longjmp out of a callback, a thread's exit, the program's. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf out;
static int compares;

static int leave(const void *a, const void *b)
{
	(void)a, (void)b;
	if (++compares == 2) longjmp(out, 1);
	return 0;
}

static void *thread(void *arg)
{
	char name[32];
	snprintf(name, sizeof name, "HERMES_%d", *(int *)arg);
	setenv(name, "set by a thread", 1);
	if (*(int *)arg == 1) pthread_exit(NULL);
	return getenv(name);
}

int main(void)
{
	int numbers[4] = {4, 3, 2, 1}, ids[3] = {0, 1, 2};
	pthread_t threads[3];
	if (setjmp(out) == 0) qsort(numbers, 4, sizeof *numbers, leave);
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, thread, &ids[i]);
		pthread_join(threads[i], NULL);
	}
	if (access("/nothing/there", R_OK) == 0) return 3;
	fprintf(stdout, "%s %d%% of %.1f %c\n", "about", 50, 2.5, 'x');
	exit(strlen(getenv("HERMES_2")) == 15 ? 0 : 4);
}
