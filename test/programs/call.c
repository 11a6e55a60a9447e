/*
 * Makes raw system calls as its arguments say and prints one line for each: result, then every out buffer in hex.
 *
 *   call NR ARG... [-- NR ARG...]...
 *
 * ARG is a number, or  s:TEXT  pointer to text · x:HEX  pointer to bytes · o:N  pointer to N zeroed bytes that are
 * printed · i:N  pointer to the 4-byte number N · v:TEXT,TEXT  pointer to an argv · w:HEX,HEX  pointer to iovecs ·
 * wo:N,N  pointer to iovecs of zeroed bytes that are printed · m:NAMEHEX;HEX,HEX  pointer to a msghdr ·
 * bad  pointer to nothing · r:K  result of call K (from 0) · edge:TEXT  text that ends at the end of mapped memory
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static long results[64];
static struct { unsigned char *at; size_t size; } outs[16];
static int out_count;

static unsigned char *zeroed(size_t size)
{
	unsigned char *at = calloc(1, size ? size : 1);
	outs[out_count].at = at;
	outs[out_count++].size = size;
	return at;
}

static unsigned char *from_hex(const char *text, size_t *size)
{
	size_t length = strcspn(text, ",;") / 2;
	unsigned char *bytes = malloc(length + 1);
	for (size_t i = 0; i < length; i++)
		sscanf(text + 2 * i, "%2hhx", &bytes[i]);
	*size = length;
	return bytes;
}

static struct iovec *vectors(const char *text, int are_out, size_t *count)
{
	struct iovec *list = calloc(32, sizeof *list);
	for (*count = 0; *text && *count < 32; (*count)++) {
		struct iovec *v = &list[*count];
		if (are_out) {
			v->iov_len = strtoul(text, NULL, 10);
			v->iov_base = zeroed(v->iov_len);
		} else {
			v->iov_base = from_hex(text, &v->iov_len);
		}
		text += strcspn(text, ",");
		text += *text == ',';
	}
	return list;
}

static struct msghdr *message(const char *text)
{
	struct msghdr *m = calloc(1, sizeof *m);
	size_t name_size, count;
	m->msg_name = from_hex(text, &name_size);
	m->msg_namelen = (socklen_t)name_size;
	text += strcspn(text, ";");
	m->msg_iov = vectors(text + (*text == ';'), 0, &count);
	m->msg_iovlen = count;
	return m;
}

static char *at_edge(const char *text)
{
	size_t size = strlen(text) + 1, pages = (size + 4095) / 4096;
	char *map = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(map + pages * 4096, 4096);
	return memcpy(map + pages * 4096 - size, text, size);
}

static long argument(char *text)
{
	size_t size;
	if (strncmp(text, "s:", 2) == 0)
		return (long)(text + 2);
	if (strncmp(text, "x:", 2) == 0)
		return (long)from_hex(text + 2, &size);
	if (strncmp(text, "o:", 2) == 0)
		return (long)zeroed(strtoul(text + 2, NULL, 10));
	if (strncmp(text, "i:", 2) == 0) {
		int *number = malloc(sizeof *number);
		*number = atoi(text + 2);
		return (long)number;
	}
	if (strncmp(text, "v:", 2) == 0) {
		char **list = calloc(64, sizeof *list);
		int n = 0;
		for (char *word = strtok(strdup(text + 2), ","); word && n < 63; word = strtok(NULL, ","))
			list[n++] = word;
		return (long)list;
	}
	if (strncmp(text, "wo:", 3) == 0)
		return (long)vectors(text + 3, 1, &size);
	if (strncmp(text, "w:", 2) == 0)
		return (long)vectors(text + 2, 0, &size);
	if (strncmp(text, "m:", 2) == 0)
		return (long)message(text + 2);
	if (strncmp(text, "edge:", 5) == 0)
		return (long)at_edge(text + 5);
	if (strncmp(text, "r:", 2) == 0)
		return results[atoi(text + 2)];
	if (strcmp(text, "bad") == 0)
		return 0x1000;
	return strtol(text, NULL, 0);
}

int main(int argc, char **argv)
{
	int call = 0;
	for (int i = 1; i < argc && call < 64; i++, call++) {
		long args[6] = { 0 };
		long nr = strtol(argv[i++], NULL, 0);
		out_count = 0;
		for (int n = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
			if (n < 6)
				args[n++] = argument(argv[i]);
		errno = 0;
		long result = syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
		results[call] = result;
		printf("%ld %d", result, result == -1 ? errno : 0);
		for (int k = 0; k < out_count; k++) {
			printf(" ");
			for (size_t b = 0; b < outs[k].size; b++)
				printf("%02x", outs[k].at[b]);
			if (outs[k].size == 0)
				printf("-");
		}
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
