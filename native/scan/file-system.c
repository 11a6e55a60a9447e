#define _GNU_SOURCE
#include "file-system.h"
#include "checksum.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum kind {
	UNKNOWN_TIMES, /* e.g. network, FUSE, FAT: folders are read each time */
	RELIABLE_TIMES,
	/*
	 * Reliable while mounted. Two overlays may have the same top layer over others, and two read-only images the same
	 * inodes and times, so a folder is compared only in the mount that it was read in.
	 */
	RELIABLE_MOUNT,
	OF_KERNEL,
};

static const struct {
	uint32_t magic;
	enum kind kind;
} KINDS[] = {
	{ EXT4_SUPER_MAGIC, RELIABLE_TIMES },
	{ XFS_SUPER_MAGIC, RELIABLE_TIMES },
	{ BTRFS_SUPER_MAGIC, RELIABLE_TIMES },
	{ F2FS_SUPER_MAGIC, RELIABLE_TIMES },
	{ TMPFS_MAGIC, RELIABLE_TIMES },
	{ 0x2fc12fc1 /* zfs */, RELIABLE_TIMES },
	{ OVERLAYFS_SUPER_MAGIC, RELIABLE_MOUNT },
	{ SQUASHFS_MAGIC, RELIABLE_MOUNT },
	{ 0xe0f5e1e2 /* erofs */, RELIABLE_MOUNT },
	{ PROC_SUPER_MAGIC, OF_KERNEL },
	{ SYSFS_MAGIC, OF_KERNEL },
	{ CGROUP_SUPER_MAGIC, OF_KERNEL },
	{ CGROUP2_SUPER_MAGIC, OF_KERNEL },
	{ DEVPTS_SUPER_MAGIC, OF_KERNEL },
	{ DEBUGFS_MAGIC, OF_KERNEL },
	{ TRACEFS_MAGIC, OF_KERNEL },
	{ SECURITYFS_MAGIC, OF_KERNEL },
	{ BPF_FS_MAGIC, OF_KERNEL },
	{ PSTOREFS_MAGIC, OF_KERNEL },
	{ EFIVARFS_MAGIC, OF_KERNEL },
	{ 0x19800202 /* mqueue */, OF_KERNEL },
	{ 0x62656570 /* configfs */, OF_KERNEL },
	{ 0x65735543 /* fusectl */, OF_KERNEL },
	{ 0x42494e4d /* binfmt_misc */, OF_KERNEL },
	{ 0x0187 /* autofs */, OF_KERNEL },
};

uint64_t boot_number(void)
{
	char id[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, id, sizeof id);
	if (fd >= 0)
		close(fd);
	return size < 32 ? 0 : checksum(1, id, (size_t)size) | 1;
}

static uint64_t device_of(const struct statx *file) { return makedev(file->stx_dev_major, file->stx_dev_minor); }

int is_in_place(const struct place *place, const struct statx *file)
{
	return place->device == device_of(file) && place->mount == file->stx_mnt_id;
}

static enum kind kind_of(int fd)
{
	struct statfs info;
	if (fstatfs(fd, &info) < 0)
		return UNKNOWN_TIMES;
	for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
		if (KINDS[i].magic == (uint32_t)info.f_type)
			return KINDS[i].kind;
	return UNKNOWN_TIMES;
}

int find_place(struct place *place, int fd, const struct statx *file, uint64_t boot)
{
	enum kind kind = kind_of(fd);
	uint64_t parts[3] = { boot, device_of(file), kind == RELIABLE_MOUNT ? file->stx_mnt_id : 0 };
	/* Before Linux 6.8, the number of a mount may be used again. */
	int known = kind == RELIABLE_TIMES || (kind == RELIABLE_MOUNT && file->stx_mask & STATX_MNT_ID_UNIQUE);
	*place = (struct place){ .device = parts[1], .mount = file->stx_mnt_id };
	if (known && boot != 0)
		place->identity = checksum(2, parts, sizeof parts) | 1;
	return kind != OF_KERNEL;
}
