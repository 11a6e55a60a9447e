/*
 * On-behalf calls: an allowed system call that the broker makes for the tracee, on the object that was decided on. The
 * program cannot change what the call reaches between the decision and the call.
 */
#ifndef HERMES_ON_BEHALF_H
#define HERMES_ON_BEHALF_H

#include "../protocol/layout.h"
#include "../tracee/cwd-cache.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { ADDRESS_SIZE = 132, HOW_SIZE = 24 };

/* One call to make. It holds copies of everything, so that another thread or process can make it later. */
struct on_behalf_call {
	pid_t tid;
	int nr;
	uint64_t args[ARGUMENTS];
	int as_tracee;           /* assume the tracee's identity first */
	int other_root;          /* the tracee may have another root than this process */
	int no_stream;           /* it was allowed because its socket is no stream: check that again */
	int no_wait;             /* it must not block, because others wait meanwhile; it fails with EAGAIN instead */
	int routed;              /* its control messages may route it elsewhere than its address says; that was decided on */
	int sets_umask;          /* it creates something, with this umask */
	mode_t umask;
	struct pin pins[MAX_PINS];
	uint8_t how[HOW_SIZE];   /* openat2: the caller's struct open_how, as it was decided on */
	uint32_t how_size;
	uint8_t *addresses;      /* ADDRESS_SIZE bytes per message: its length, then the address; NULL: none */
	uint32_t address_count;
	size_t sent;             /* bytes of its first message that the socket has taken already */
	uint8_t *snapshot;       /* what was read of the tracee's memory for the decision (snapshot.c); NULL: nothing */
	uint32_t snapshot_size;
	int failed;              /* 0, or the -errno that the call ends with before anything is done */
};

struct outcome {
	int64_t result; /* what the tracee sees, unless there is a descriptor for it */
	int fd;         /* -1, or a descriptor to put into the tracee */
	uint32_t fd_flags;
	int truncates;  /* truncate the file once the tracee has its descriptor */
	pid_t as;       /* … with this tracee's identity; 0: with our own */
};

/* A new call on a pinned object, for a caller that has our rights and our view. NULL: out of memory. */
struct on_behalf_call *on_behalf_new(pid_t tid, int nr, const uint64_t *args, const struct pin *pin, struct cwd_cache *cache);
/* Looks up the caller's umask if the call creates something. */
void on_behalf_take_umask(struct on_behalf_call *call, struct cwd_cache *cache);
/* Whether it may block for long, so that a thread of its own has to make it. */
int on_behalf_may_block(const struct on_behalf_call *call);
/* Whether it failed only because it must not block (no_wait), and a thread of its own has to make it again. */
int on_behalf_must_wait(const struct on_behalf_call *call, const struct outcome *outcome);
struct outcome on_behalf_make(struct on_behalf_call *call);
void on_behalf_free(struct on_behalf_call *call);
/* The part of O_TRUNC that waits until the tracee has its descriptor: 0 or -errno. */
int on_behalf_truncate(const struct outcome *outcome);

/* The result of a C library call as the kernel gives it: -errno for failure. */
static inline int64_t kernel_result(int64_t result)
{
	return result < 0 ? -errno : result;
}

/* snapshot.c: the tracee's memory, from the snapshot where that has it. All of it or -EFAULT. */
int on_behalf_read(const struct on_behalf_call *call, uint64_t address, void *into, size_t length);
/* … a string with its NUL: its length, or -EFAULT */
ssize_t on_behalf_read_string(const struct on_behalf_call *call, int argument, char *into, size_t size, int *truncated);
void on_behalf_keep_snapshot(struct on_behalf_call *call, const uint8_t *bytes, uint32_t length);
/* Writes a result to the address in an argument, with our own rights. Returns `result`, or -EFAULT. */
int64_t on_behalf_write(const struct on_behalf_call *call, int argument, const void *bytes, size_t length, int64_t result);

/* send-data.c: a copy of `length` bytes of the caller's data from `from` on: 0 or -errno. All copies share one budget. */
int64_t on_behalf_copy_data(const struct on_behalf_call *call, const struct iovec *pieces, size_t count, size_t from,
			    size_t length, struct iovec *copy);
void on_behalf_free_data(struct iovec *copy);

/* open.c */
struct outcome on_behalf_open(struct on_behalf_call *call);
int on_behalf_open_may_block(const struct on_behalf_call *call);
/* Whether the tracee has a free descriptor number. Ask before you create a file, because that cannot be undone. */
int on_behalf_has_free_fd(pid_t tid);
/* Whether O_TRUNC would remove data from this file: 1, 0, or -errno where it may not be truncated. */
int on_behalf_empties(int object, const struct stat *info, int flags);

/* open-in-namespaces.c */
/* Opens our own namespaces. Call it once, before a thread leaves them for the first time. */
void on_behalf_remember_namespaces(void);
/* Whether the file depends on its opener's namespaces. If so it was opened in the caller's: *fd is the result, with errno. */
int on_behalf_open_in_namespaces(const struct on_behalf_call *call, int object, int flags, int *fd);

/* rehearsal.c: whether the kernel has a result for the call whatever its paths reach: an invalid flag, a bad structure. */
int on_behalf_rehearse(const struct on_behalf_call *call, int64_t *result);

/* file.c, xattr.c, descriptor.c */
int64_t on_behalf_file(const struct on_behalf_call *call);
int64_t on_behalf_xattr(const struct on_behalf_call *call);
int64_t on_behalf_descriptor(const struct on_behalf_call *call);
/* Whether the size exceeds the caller's RLIMIT_FSIZE. If so the caller has been sent SIGXFSZ. */
int on_behalf_exceeds_file_limit(const struct on_behalf_call *call, int64_t size);

/* socket.c, bind.c, signal.c */
int64_t on_behalf_socket(struct on_behalf_call *call);
int on_behalf_socket_may_block(const struct on_behalf_call *call);
/* The result of a send that is given up after some bytes have gone; 0: none have. */
int64_t on_behalf_bytes_sent(struct on_behalf_call *call);
/* Binds a socket to a path whose folder is pinned. */
int64_t on_behalf_bind_path(const struct on_behalf_call *call, int fd, const struct sockaddr *address, socklen_t size);
int64_t on_behalf_signal(const struct on_behalf_call *call);

#endif
