/* The folder outside moved away. */
#include "../attack.h"
int main(void) { return worked(rename(OUTSIDE, "mine")); }
