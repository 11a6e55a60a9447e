/* See place.c. */
#ifndef HERMES_PLACE_H
#define HERMES_PLACE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* What the supervisor has to know of it when a thread is born. The broker writes it. */
struct placed {
	atomic_uint turn;  /* odd while it is written */
	atomic_int used;   /* there was somebody */
	int32_t beside;    /* who is beside the broker now, 0 for nobody */
	int32_t reserved;
	cpu_set_t its;     /* where it may run else */
};

struct place {
	struct placed *told;
	pid_t self;     /* the thread that this is about */
	pid_t tid;      /* whose calls come one after the other */
	int in_a_row;
	int64_t last;   /* when the last of them came */
	int enough;     /* so many in a row bring us together; more when that was in vain */
	int handed;     /* so often since somebody is beside us */
	int unwanted;   /* the program chooses CPUs itself, or births are not seen */
	cpu_set_t own;  /* where we may run */
	timer_t timer;
	int has_timer;
};

/* A descriptor is about to be handed to a thread. */
void place_before_handing(struct place *p, pid_t tid);
/* A thread makes a call: whoever else is beside us leaves. */
void place_called(struct place *p, pid_t tid, int nr);
/* A call has to be decided on, or it has taken long. */
void place_interrupt(struct place *p);
/* From here on everybody runs where he may. */
void place_leave(struct place *p);
void place_close(struct place *p);

/* The supervisor's part. Whether what was born may have no more than the CPU that its parent shared. It must not run so. */
int place_is_inherited(struct placed *told, pid_t child);
/* It gets what its parent has without us. */
void place_born(struct placed *told, pid_t parent, pid_t child);

#endif
