/* Four rewriters and as many burners: the checker is kept waiting where it hurts. */
#include "../race.h"
static void *burn(void *context)
{
	while (!((struct race *)context)->over)
		pause_a_little(context, 1000);
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pthread_t thread;
	for (int i = 0; i < 4; i++) {
		start_thread(r);
		pthread_create(&thread, NULL, burn, r);
	}
	return race_reads(r);
}
