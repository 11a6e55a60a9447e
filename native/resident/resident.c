/*
 * hermes-resident: the resident process of a user, and its callers.
 *
 *	hermes-resident hook MAIN hook AGENT …          answers a hook, or has Node answer it
 *	hermes-resident serve NODE STAND_IN SECONDS     the resident process itself
 *	hermes-resident find                            prints the process that listens
 */
#define _GNU_SOURCE
#include "hook.h"
#include "serve.h"
#include "socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_main(void)
{
	struct place place;
	pid_t listener;
	if (place_open(&place, 0) < 0 || place_connect(&place, &listener) < 0)
		return 1;
	printf("%d\n", listener);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "hook") == 0)
		return hook_main(argv[2], argv + 3);
	if (argc == 5 && strcmp(argv[1], "serve") == 0)
		return serve_main(argv[2], argv[3], atoi(argv[4]));
	if (argc == 2 && strcmp(argv[1], "find") == 0)
		return find_main();
	fputs("hermes-resident is started by hermes; it is not for use by hand\n", stderr);
	return 2;
}
