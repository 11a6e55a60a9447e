/* Needs: root. Opened by a handle, which has no path at all. */
#include "../attack.h"
int main(void)
{
	struct { struct file_handle h; char room[128]; } handle = { .h.handle_bytes = 128 };
	int mount_id;
	if (name_to_handle_at(AT_FDCWD, SECRET, &handle.h, &mount_id, 0) < 0)
		return 1;
	return show(open_by_handle_at(open("/", O_RDONLY | O_DIRECTORY), &handle.h, O_RDONLY));
}
