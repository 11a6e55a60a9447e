/* setxattrat (Linux 6.13): its path flips between a folder where all is allowed and another. */
#include "../race.h"
int main(void)
{
	static char path[4096];
	static const struct { uint64_t value; uint32_t size, flags; } value = { (uint64_t)(uintptr_t)"x", 1, 0 };
	const char *good = in(ALLOWED, "file"), *bad = outside_file();
	put(good, "");
	if (strlen(good) != strlen(bad) || strlen(good) >= sizeof path)
		return 1;
	struct race *r = start_flip(path, strlen(good), good, bad);
	for (int i = 0; flips_on(r, i); i++)
		if (syscall(463, AT_FDCWD, path, 0, "user.hermes", &value, sizeof value) < 0 && errno == ENOSYS)
			break;
	return r->over = 1, 0;
}
