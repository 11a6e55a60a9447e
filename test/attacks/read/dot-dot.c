/* Up and down again. */
#include "../attack.h"
int main(void) { return show_file("../public/../././/secret/../secret//token"); }
