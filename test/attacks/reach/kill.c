/* A signal to a process outside, by its number. */
#include "../attack.h"
int main(void) { return worked(kill(OUTSIDER, SIGUSR1)); }
