/* Relative to a descriptor. */
#include "../attack.h"
int main(void) { return show(openat(open(folder_of(SECRET), O_PATH | O_DIRECTORY), "token", O_RDONLY)); }
