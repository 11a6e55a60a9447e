/* O_RDWR|O_CREAT on a file that is there already reads it too. */
#include "../attack.h"
int main(void) { return show(open(SECRET, O_RDWR | O_CREAT, 0600)); }
