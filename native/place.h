/* See place.c. */
#ifndef HERMES_PLACE_H
#define HERMES_PLACE_H

#include <sched.h>
#include <sys/types.h>
#include <time.h>

struct place {
	pid_t tid;      /* whose calls come one after the other */
	int in_a_row;
	double last;    /* when the last of them came */
	int enough;     /* so many in a row bring us together; more when that was in vain */
	pid_t beside;   /* who is beside us now, 0 for nobody */
	int handed;     /* so often since it is */
	int used;       /* there was somebody */
	int unwanted;   /* the program chooses CPUs itself */
	cpu_set_t its;  /* where it may run, and we */
	cpu_set_t own;
	timer_t timer;
	int has_timer;
};

struct session;

/* A descriptor is about to be handed to the caller of the event in the buffer. */
void place_before_handing(struct session *s);
/* The call in the buffer was made: whoever else is beside us leaves. */
void place_called(struct session *s);
/* A call has to be decided on, or it has taken long. */
void place_interrupt(struct session *s);
/* From here on everybody runs where he may. */
void place_leave(struct session *s);
/* Whether what was born may have no more than the CPU that its parent shared with us. It must not run so. */
int place_is_inherited(const struct session *s, pid_t child);
/* It gets what its parent has without us. */
void place_born(struct session *s, pid_t parent, pid_t child);
void place_close(struct session *s);

#endif
