/* Where the resident process of this user, this HERMES and this state folder listens. */
#ifndef HERMES_RESIDENT_SOCKET_H
#define HERMES_RESIDENT_SOCKET_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

struct place {
	int folder;        /* STATE/resident, open, or -1 */
	char name[64];     /* of the socket in it: another build has another one */
};

/*
 * Finds the folder, and makes it if `make` is set. It must belong to this user, be closed to all others, and be no link. 0 or
 * -errno; EPERM for a folder that is not private.
 */
int place_open(struct place *p, int make);
/* Connects. A descriptor, and the process that listens; or -errno. */
int place_connect(const struct place *p, pid_t *listener);
/* The address of a name in the folder. It stays the same folder, whatever becomes of its path. */
struct sockaddr_un place_address(const struct place *p, const char *name);

/* This program's folder, dist/native, with a slash at its end: 0 or -1. */
int own_folder(char *into, size_t size);

#endif
