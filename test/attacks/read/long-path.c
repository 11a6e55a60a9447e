/* A path of nearly 4096 bytes, full of "./". */
#include "../attack.h"
int main(void)
{
	char path[4096] = "";
	const char *secret = text("../%s", secret_from_above(), NULL);
	size_t room = 4090 - strlen(secret);
	for (size_t at = 0; at + 2 <= room; at += 2)
		strcat(path, "./");
	return show_file(strcat(path, secret));
}
