/* A process outside, stopped. */
#include "../attack.h"
int main(void) { return worked(kill(OUTSIDER, SIGSTOP)); }
