/* A new file through a linked folder and `..`. */
#include "../attack.h"
int main(void)
{
	mkdir("d", 0700);
	return symlink(OUTSIDE, "d/l") < 0 ? 1 : change(open(text("d/l/./../%s/new", name_of(OUTSIDE), NULL), O_WRONLY | O_CREAT, 0600));
}
