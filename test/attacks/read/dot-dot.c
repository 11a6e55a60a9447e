/* Up and down again. */
#include "../attack.h"
int main(void) { return show_file(text("../%s/../././/%s", name_of(folder_of(PUBLIC)), text("%s/..//%s", name_of(folder_of(SECRET)), secret_from_above()))); }
