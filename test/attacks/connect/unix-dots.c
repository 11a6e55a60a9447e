/* With dots and slashes. */
#include "../attack.h"
int main(void) { return reach_file(text(".././/../../../../../../..%s", SOCKET_FILE, NULL)); }
