/* Its folder moved to where it may be read. */
#include "../attack.h"
int main(void) { return rename(folder_of(SECRET), "mine") < 0 ? 1 : show_file("mine/token"); }
