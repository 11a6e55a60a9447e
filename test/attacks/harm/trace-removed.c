/* The record removed. */
#include "../attack.h"
int main(void) { return unlink(from_arena("A_TRACE")) == 0 ? broke("the record is gone") : 1; }
