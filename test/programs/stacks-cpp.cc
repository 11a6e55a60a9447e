/* Marks (getppid) in places that only C++ has. */
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

[[gnu::noinline, gnu::noipa]] static int mark(int value)
{
	syscall(SYS_getppid);
	return value + 1;
}

struct Guard {
	int value;
	[[gnu::noinline]] ~Guard() { mark(value); }
};

template <typename T> [[gnu::noinline]] static int thrower(T value)
{
	Guard guard{ static_cast<int>(value) };
	if (mark(1) > 0)
		throw std::runtime_error("away");
	return 0;
}

struct Base {
	virtual ~Base() = default;
	virtual int act(int n) = 0;
};
struct Derived : Base {
	int act(int n) override { return mark(n) + 1; }
};

struct Early {
	Early() { mark(0); } /* before main */
} early;

int main()
{
	try {
		thrower<long>(3); /* its guard is destroyed while the exception is on its way */
	} catch (const std::exception &) {
		mark(2);
	}
	Base *base = new Derived;
	std::function<int(int)> call = [&](int n) { return base->act(n) + 1; };
	std::vector<int> numbers{ 3, 1, 2 };
	bool once = false;
	std::sort(numbers.begin(), numbers.end(), [&](int a, int b) {
		if (!once)
			once = call(a) > 0;
		return a < b;
	});
	delete base;
	return 0;
}
