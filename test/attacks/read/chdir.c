/* Relative, after chdir. */
#include "../attack.h"
int main(void) { return chdir(folder_of(SECRET)) < 0 ? 1 : show_file("token"); }
