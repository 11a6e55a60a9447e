/* `..` after a link leads up from where the link leads to, not from where it stands. */
#include "../attack.h"
int main(void)
{
	mkdir("a", 0700);
	return symlink(in(folder_of(folder_of(SECRET)), "public"), "a/b") < 0 ? 1 : show_file("a/b/../secret/token");
}
