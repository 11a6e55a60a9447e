/*
 * The people of the arena.
 *   above COMMAND…      two processes above a command, as a supervisor and its launcher are: for bare runs
 *   keyed COMMAND…      the command with a secret in its session keyring
 *   with FILE COMMAND…  the command with the variables that a file has, one per line
 *   keep                a neighbour who has the secret in its environment, its memory, a descriptor and shared memory
 */
#define ATTACKS 0
#include "attack.h"
#include <sys/shm.h>

static int wait_for(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int above(char **command)
{
	pid_t pid = fork();
	if (pid > 0)
		return wait_for(pid);
	unsetenv("HIDDEN");
	pid = fork();
	if (pid > 0)
		return wait_for(pid);
	execvp(command[0], command);
	return 127;
}

static int keyed(char **command)
{
	const char *hidden = from_arena("HIDDEN");
	if (syscall(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, NULL) < 0 ||
	    syscall(SYS_add_key, "user", "hidden", hidden, strlen(hidden), -3 /* the session's */) < 0)
		return 125;
	execvp(command[0], command);
	return 127;
}

/* Where the environment of a command is cleaned: its attack must still know where the arena's things are. */
static int with(const char *file, char **command)
{
	char line[BIG];
	FILE *lines = fopen(file, "r");
	while (lines && fgets(line, sizeof line, lines)) {
		line[strcspn(line, "\n")] = 0;
		if (putenv(strdup(line)) != 0)
			return 125;
	}
	if (!lines || fclose(lines) != 0)
		return 125;
	execvp(command[0], command);
	return 127;
}

static int keep(void)
{
	char *token = strdup(from_arena("HIDDEN"));
	int fd = open(SECRET, O_RDONLY), shared = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
	char *memory = shmat(shared, NULL, 0);
	if (fd < 0 || memory == (void *)-1)
		return 1;
	strcpy(memory, token);
	printf("%d %d %d %p %zu\n", (int)getpid(), fd, shared, (void *)token, strlen(token));
	fflush(stdout);
	char wait;
	while (read(0, &wait, 1) > 0) /* until the harness lets go */
		;
	shmctl(shared, IPC_RMID, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	alarm(0);
	if (argc > 2 && strcmp(argv[1], "above") == 0)
		return above(argv + 2);
	if (argc > 2 && strcmp(argv[1], "keyed") == 0)
		return keyed(argv + 2);
	if (argc > 3 && strcmp(argv[1], "with") == 0)
		return with(argv[2], argv + 3);
	return argc == 2 && strcmp(argv[1], "keep") == 0 ? keep() : 2;
}
