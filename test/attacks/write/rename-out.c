/* The file outside taken away. */
#include "../attack.h"
int main(void) { return worked(rename(outside_file(), "mine")); }
