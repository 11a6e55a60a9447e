/*
 * paint COMMAND…: runs a command that a person is asked about, while its children write over the terminal without a
 * pause, try to type the answer themselves (TIOCSTI), and leave their group and session so that nobody finds them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { PAINTERS = 4 };

static const char picture[] = "\033[2J\033[HPAINTED: may a harmless thing happen?\033[8m\033[r\033]0;title";

static void paint(int tty, int ready)
{
	signal(SIGTTOU, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	struct termios modes;
	if (tcgetattr(tty, &modes) == 0) {
		modes.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
		tcsetattr(tty, TCSANOW, &modes);
	}
	for (unsigned turn = 0;; turn++) {
		if (write(tty, picture, sizeof picture - 1) < 0 || write(2, picture, sizeof picture - 1) < 0)
			_exit(1);
		ioctl(tty, TIOCSTI, "y");
		ioctl(tty, TIOCSTI, "\n");
		if (turn == 3 && write(ready, "r", 1) != 1)
			_exit(1);
		if (turn % 16 == 15) { /* another process each time */
			pid_t child = fork();
			if (child > 0)
				_exit(0);
		}
		usleep(2000);
	}
}

/* Every process writes once and makes the next, as a child of one that stands still and reaps nobody. */
static void paint_in_a_chain(int tty, int ready)
{
	signal(SIGTTOU, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	if (write(ready, "r", 1) != 1)
		_exit(1);
	if (fork() != 0)
		for (;;)
			pause();
	for (;;) {
		if (write(tty, picture, sizeof picture - 1) < 0)
			_exit(1);
		long child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (child > 0)
			_exit(0);
	}
}

int main(int argc, char **argv)
{
	int ready[2];
	char one;
	int tty = open("/dev/tty", O_RDWR);
	if (argc < 2 || tty < 0 || pipe(ready) < 0)
		return 3;
	for (int i = 0; i < PAINTERS; i++) {
		pid_t child = fork();
		if (child == 0) {
			if (i % 2)
				setsid();
			if (i == 0)
				paint_in_a_chain(tty, ready[1]);
			paint(tty, ready[1]);
		}
	}
	for (int i = 0; i < PAINTERS; i++)
		if (read(ready[0], &one, 1) != 1)
			return 3;
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[1], argv + 1);
		_exit(126);
	}
	int status;
	if (waitpid(child, &status, 0) != child)
		return 3;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
