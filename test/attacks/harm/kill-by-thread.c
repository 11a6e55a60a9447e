/* kill() with the number of one of the supervisor's threads stands for the whole process. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	DIR *tasks = opendir(proc(pid, "task"));
	for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
		pid_t thread = atoi(entry->d_name);
		/* Its first thread alone in a bare run. */
		if (thread > 0 && kill(thread, SIGSEGV) == 0 && is_down(pid))
			return broke("it is dead");
	}
	return 1;
}
