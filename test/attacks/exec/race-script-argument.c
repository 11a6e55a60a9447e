/* The one word of a shell command is rewritten: the path stays, the argument vector changes. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	start_thread(r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		char *words[] = { "env", r->path, NULL };
		if (vfork() == 0) {
			extern char **environ;
			execve("/usr/bin/env", words, environ);
			_exit(1);
		}
		wait(NULL);
	}
	return r->over = 1, 0;
}
