/* Just enough of io_uring to make one request. */
#pragma once
#include "attack.h"
#include <linux/io_uring.h>

struct uring {
	int fd;
	unsigned *tail, *mask, *array, *done_head, *done_mask;
	struct io_uring_sqe *requests;
	struct io_uring_cqe *done;
};

static UNUSED struct uring open_uring(unsigned flags)
{
	struct io_uring_params p = { .flags = flags };
	struct uring u;
	u.fd = (int)syscall(SYS_io_uring_setup, 8, &p);
	if (u.fd < 0)
		exit(1);
	char *s = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, u.fd, IORING_OFF_SQ_RING);
	char *c = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof *u.done, PROT_READ | PROT_WRITE, MAP_SHARED, u.fd, IORING_OFF_CQ_RING);
	u.requests = mmap(NULL, p.sq_entries * sizeof *u.requests, PROT_READ | PROT_WRITE, MAP_SHARED, u.fd, IORING_OFF_SQES);
	u.tail = (unsigned *)(s + p.sq_off.tail);
	u.mask = (unsigned *)(s + p.sq_off.ring_mask);
	u.array = (unsigned *)(s + p.sq_off.array);
	u.done_head = (unsigned *)(c + p.cq_off.head);
	u.done_mask = (unsigned *)(c + p.cq_off.ring_mask);
	u.done = (struct io_uring_cqe *)(c + p.cq_off.cqes);
	return u;
}

static UNUSED int request(struct uring *u, struct io_uring_sqe wanted)
{
	unsigned at = *u->tail & *u->mask;
	u->requests[at] = wanted;
	u->array[at] = at;
	__atomic_store_n(u->tail, *u->tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		exit(1);
	int result = u->done[*u->done_head & *u->done_mask].res;
	__atomic_store_n(u->done_head, *u->done_head + 1, __ATOMIC_RELEASE);
	return result;
}
