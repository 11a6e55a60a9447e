/* RecoveredFunctions of many types, for tests of what debug information tells. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum colour { RED, GREEN = 5, BLUE };
struct point { double x, y; };
struct node { const char *name; struct node *next; int values[3]; enum colour colour; };
typedef int (*visitor)(const struct node *node, void *arg);

__attribute__((noinline)) int paint(const char *what, enum colour colour, uint8_t alpha)
{
	return printf("%s %d %d\n", what, colour, alpha);
}

__attribute__((noinline)) struct point middle(struct point a, struct point b)
{
	return (struct point){(a.x + b.x) / 2, (a.y + b.y) / 2};
}

__attribute__((noinline)) int walk(const struct node *list, visitor visit, void *arg)
{
	int count = 0;
	for (; list; list = list->next) count += visit(list, arg);
	return count;
}

__attribute__((noinline)) int complain(int level, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int n = vprintf(format, ap);
	va_end(ap);
	return n + level;
}

__attribute__((noinline)) static float half(float f, long double d, unsigned long long n) { return f / 2 + (float)d + n; }

static int visit(const struct node *node, void *arg) { return node->values[0] + *(int *)arg; }

int main(int argc, char **argv)
{
	struct node last = {"last", NULL, {3, 4, 5}, BLUE}, first = {"first", &last, {1, 2, 3}, GREEN};
	int one = 1;
	struct point p = middle((struct point){0, 0}, (struct point){argc, 4});
	paint(argv[0] ? "wall" : "", BLUE, 255);
	complain(walk(&first, visit, &one), "%s %.1f\n", "x", p.x + half(1, 2, 0));
	return 0;
}
