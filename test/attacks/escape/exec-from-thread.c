/* An execve by another thread than the first changes that thread's number: is it still known? It writes outside. */
#include "../attack.h"
static void *start(void *unused)
{
	char *words[] = { "sh", "-c", "mkdir $A_OUTSIDE/new", NULL };
	extern char **environ;
	execve("/bin/sh", words, environ);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, start, NULL);
	return pthread_join(thread, NULL);
}
