/* The group by its number. */
#include "../attack.h"
int main(void) { return kill(-getpgid(supervisor()), SIGKILL), 1; }
