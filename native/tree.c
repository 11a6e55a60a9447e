/* The tree of processes, as /proc shows it. */
#define _GNU_SOURCE
#include "tree.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void visit_descendants(pid_t pid, int depth, visitor *visit, void *context)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	if (tasks == NULL)
		return;
	for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
		char name[300];
		int child_pid;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "/proc/%d/task/%s/children", (int)pid, entry->d_name);
		FILE *children = fopen(name, "re");
		if (children == NULL)
			continue;
		while (fscanf(children, "%d", &child_pid) == 1) {
			visit(child_pid, context);
			/* Orphans come to us, so a tree too deep to walk is met again, one level higher. */
			if (depth < 64)
				visit_descendants(child_pid, depth + 1, visit, context);
		}
		fclose(children);
	}
	closedir(tasks);
}

int read_stat(pid_t pid, char *state, int *group, int *terminal)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return 0;
	size_t size = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[size] = 0;
	char *rest = strrchr(text, ')'); /* its name may hold anything */
	return rest != NULL && sscanf(rest, ") %c %*d %d %*d %d", state, group, terminal) == 3;
}

int only_child_is(pid_t pid)
{
	char path[64];
	int child, others = 0;
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	FILE *children = fopen(path, "re");
	if (children == NULL)
		return 0;
	while (fscanf(children, "%d", &child) == 1)
		others |= child != pid;
	fclose(children);
	return !others;
}
