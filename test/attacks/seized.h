/* A race for the path of a program whose parent has seized it, with options of the attack's choice. */
#pragma once
#include "race.h"

static UNUSED int race_seized(long options, int with_child)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	start_thread(r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		int status, ready[2];
		char byte;
		if (pipe(ready) < 0)
			return 1;
		pid_t pid = fork();
		if (pid == 0) {
			close(ready[1]);
			if (read(ready[0], &byte, 1) == 0 && (!with_child || fork() == 0))
				run_file(r->path);
			_exit(1);
		}
		close(ready[0]);
		if (ptrace(PTRACE_SEIZE, pid, 0, options) < 0)
			perror("seize");
		close(ready[1]);
		for (pid_t stopped; (stopped = waitpid(-1, &status, __WALL)) > 0;)
			if (WIFSTOPPED(status))
				ptrace(PTRACE_CONT, stopped, 0, status >> 16 ? 0 : WSTOPSIG(status));
	}
	return r->over = 1, 0;
}
