/* The tree of processes, as /proc shows it. */
#define _GNU_SOURCE
#include "process-tree.h"
#include "../kernel/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *open_text(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (file == NULL && fd >= 0)
		close(fd);
	return file;
}

void for_each_descendant(pid_t pid, int depth, visitor *visit, void *context)
{
	int folder = procfs_open(pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *tasks = folder < 0 ? NULL : fdopendir(folder);
	if (tasks == NULL) {
		if (folder >= 0)
			close(folder);
		return;
	}
	for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
		char name[300];
		int child_pid;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/children", entry->d_name);
		FILE *children = open_text(folder, name);
		if (children == NULL)
			continue;
		while (fscanf(children, "%d", &child_pid) == 1 && child_pid > 1) {
			visit(child_pid, context);
			/*
			 * Orphans are reparented to us, so the rest of a tree that is too deep is found in the next pass.
			 */
			if (depth < 64)
				for_each_descendant(child_pid, depth + 1, visit, context);
		}
		fclose(children);
	}
	closedir(tasks);
}

int read_stat(pid_t pid, char *state, int *group, int *terminal)
{
	char text[1024];
	if (procfs_text(pid, "stat", text, sizeof text) < 0)
		return 0;
	char *rest = strrchr(text, ')'); /* the name may hold any byte */
	return rest != NULL && sscanf(rest, ") %c %*d %d %*d %d", state, group, terminal) == 3;
}

int only_child_is(pid_t pid)
{
	char name[64];
	int child, others = 0;
	snprintf(name, sizeof name, "self/task/%d/children", (int)getpid());
	FILE *children = open_text(procfs_dir(), name);
	if (children == NULL)
		return 0;
	while (fscanf(children, "%d", &child) == 1)
		others |= child != pid;
	fclose(children);
	return !others;
}
