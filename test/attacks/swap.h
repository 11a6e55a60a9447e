/* A race for a descriptor: its number means a file of ours when it is looked at, and one outside when it is used. */
#pragma once
#include "race.h"

enum { NUMBER = 100 };

struct swap {
	struct race race;
	int ours, outside;
};

static UNUSED void *exchange(void *context)
{
	struct swap *s = context;
	while (flipping(&s->race)) {
		dup2(s->ours, NUMBER);
		pause_a_little(&s->race, 3000);
		dup2(s->outside, NUMBER);
		pause_a_little(&s->race, 3000);
	}
	return NULL;
}

/* Makes the call on the number until there was one that did it outside, which the arena sees. */
static UNUSED int swapped(long (*call)(int fd))
{
	static struct swap s;
	pthread_t thread;
	s.ours = open("ours", O_RDWR | O_CREAT, 0600);
	s.outside = open(outside_file(), O_RDONLY);
	if (s.ours < 0 || s.outside < 0 || dup2(s.ours, NUMBER) < 0)
		return 1;
	pthread_create(&thread, NULL, exchange, &s);
	for (int i = 0; goes_on(&s.race, i); i++)
		call(NUMBER);
	s.race.over = 1;
	pthread_join(thread, NULL);
	return 0;
}
