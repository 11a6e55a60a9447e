/* Relative, after fchdir to an O_PATH handle. */
#include "../attack.h"
int main(void) { return fchdir(open(folder_of(SECRET), O_PATH)) < 0 ? 1 : show_file("token"); }
