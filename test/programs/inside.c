/* Loads libraries and has them make calls (getppid is the mark): argv[1] and argv[2] are libraries with a function `act`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char constant[] = "only to be read";

__attribute__((noinline)) static int use(const char *library)
{
	void *loaded = dlopen(library, RTLD_NOW);
	void (*act)(const char *) = loaded ? (void (*)(const char *))dlsym(loaded, "act") : NULL;
	if (act == NULL)
		return 1;
	act(constant);
	return dlclose(loaded);
}

int main(int argc, char **argv)
{
	char *text = strdup("needle in the heap");
	long seen = syscall(SYS_getppid, constant, text);
	for (int i = 1; i < argc; i++)
		if (use(argv[i]))
			return 1;
	printf("%s, %s, %d\n", constant, text, seen > 0);
	free(text);
	return 0;
}
