/* `..` after a link leads up from where the link leads to, not from where it stands. */
#include "../attack.h"
int main(void)
{
	mkdir("a", 0700);
	return symlink(folder_of(PUBLIC), "a/b") < 0 ? 1 : show_file(text("a/b/../%s", secret_from_above(), NULL));
}
