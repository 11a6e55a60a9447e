/* perf_event_open on the supervisor: where it is and what it does. Needs: root. */
#include "../attack.h"
#include <linux/perf_event.h>
int main(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1 };
	return syscall(SYS_perf_event_open, &a, supervisor(), -1, -1, 0) >= 0 ? broke("it is watched") : 1;
}
