/* To its whole process group. */
#include "../attack.h"
int main(void) { return worked(kill(-OUTSIDER, SIGUSR1)); }
