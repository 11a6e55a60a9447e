/* Painting on the terminal of another session. */
#include "../attack.h"
int main(void) { return change(open(from_arena("A_OUTSIDER_TERMINAL"), O_WRONLY | O_NOCTTY)); }
