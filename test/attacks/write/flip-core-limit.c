/* The limit of core dumps flips between nothing and everything. The kernel writes them, into the working directory. */
#include "../race.h"
int main(void)
{
	static struct rlimit limit;
	struct rlimit now;
	if (getrlimit(RLIMIT_CORE, &now) < 0 || now.rlim_max == 0)
		return 1;
	const struct rlimit good = { 0, now.rlim_max }, bad = { now.rlim_max, now.rlim_max };
	struct race *r = start_flip(&limit.rlim_cur, sizeof limit.rlim_cur, &good.rlim_cur, &bad.rlim_cur);
	limit.rlim_max = now.rlim_max;
	for (int i = 0; flips_on(r, i); i++) {
		setrlimit(RLIMIT_CORE, &limit);
		if (getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_cur > 0)
			break;
	}
	r->over = 1;
	if (now.rlim_cur == 0 || chdir(OUTSIDE) < 0)
		return 1;
	if (fork() == 0)
		abort();
	wait(NULL);
	return 0;
}
