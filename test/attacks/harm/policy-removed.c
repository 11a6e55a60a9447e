/* The policy removed. */
#include "../attack.h"
int main(void) { return unlink(from_arena("A_POLICY")) == 0 ? broke("the policy is gone") : 1; }
