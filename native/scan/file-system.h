/* Which file systems a scan reads, and where the change time of a folder tells whether its names have changed. */
#ifndef HERMES_FILE_SYSTEM_H
#define HERMES_FILE_SYSTEM_H

#include <stdint.h>
#include <sys/stat.h>

/* What a scan asks of a file. */
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif
enum { SCAN_STATX_MASK = STATX_TYPE | STATX_INO | STATX_CTIME | STATX_UID | STATX_MNT_ID_UNIQUE };

/* The file system that a folder is in. */
struct place {
	uint64_t device;
	uint64_t mount;
	uint64_t identity; /* the same as at the last scan: times can be compared. 0: they tell nothing */
};

/* A number for this boot of the kernel, or 0. */
uint64_t boot_number(void);

/* True if the file is in this place, i.e. no mount point lies between. */
int is_in_place(const struct place *place, const struct statx *file);

/* The place of an open folder. Returns 0 for file systems in which the kernel makes the files: no user's files are in them. */
int find_place(struct place *place, int fd, const struct statx *file, uint64_t boot);

#endif
