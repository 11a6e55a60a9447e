/*
 * Makes the calls that it is told, one per line of its input: a number, six arguments, and then places and the bytes (in
 * hex) that are to lie there. The places are in memory of its own that begins at AT; descriptor 100 is a socket for
 * datagrams. Usage: pointers < LINES
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AT 0x10000000ul
enum { SOCKET = 100, SIZE = 1 << 20, LINE = 1 << 16, LONGEST_S = 100 };

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void fill(unsigned long place, const char *hex)
{
	unsigned char *to = (unsigned char *)place;
	if (place < AT || place + strlen(hex) / 2 > AT + SIZE)
		exit(2);
	for (; hex[0] && hex[1] && hex[0] != '\n'; hex += 2)
		*to++ = (unsigned char)(digit(hex[0]) << 4 | digit(hex[1]));
}

int main(void)
{
	static char line[LINE];
	unsigned long made = 0;
	alarm(LONGEST_S);
	if (dup2(socket(AF_INET, SOCK_DGRAM, 0), SOCKET) != SOCKET)
		return 2;
	if (mmap((void *)AT, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 2;
	while (fgets(line, sizeof line, stdin) != NULL) {
		long word[7];
		char *rest = line;
		memset((void *)AT, 0, SIZE);
		for (int i = 0; i < 7; i++)
			word[i] = (long)strtoull(rest, &rest, 10);
		for (char *place = strtok(rest, " \n"); place != NULL; place = strtok(NULL, " \n"))
			fill(strtoul(place, NULL, 10), strtok(NULL, " \n"));
		syscall(word[0], word[1], word[2], word[3], word[4], word[5], word[6]);
		made++;
	}
	printf("%lu made\n", made);
	return 0;
}
