/* The record of what we did, emptied. */
#include "../attack.h"
int main(void) { return truncate(from_arena("A_TRACE"), 0) == 0 ? broke("the record is empty") : 1; }
