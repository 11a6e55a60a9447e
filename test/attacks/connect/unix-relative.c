/* Relative, after chdir. */
#include "../attack.h"
int main(void) { return chdir(folder_of(SOCKET_FILE)) < 0 ? 1 : reach_file(text("./%s", name_of(SOCKET_FILE), NULL)); }
