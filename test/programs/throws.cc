/* Exceptions through functions that are looked at. */
#include <cstdio>
#include <stdexcept>

extern "C" __attribute__((noinline)) int deep(int n)
{
	if (n == 0)
		throw std::runtime_error("thrown");
	int below = deep(n - 1);
	asm volatile("" ::: "memory");
	return below + 1;
}

extern "C" __attribute__((noinline)) int outer(int n)
{
	try {
		return deep(n);
	} catch (const std::exception &error) {
		printf("caught %s\n", error.what());
		return -n;
	}
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 50; i++)
		sum += outer(i % 7);
	printf("%d\n", sum);
}
