/** FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION: they need no more than a descriptor for reading. */
export const CHANGES_INODE: readonly number[] = [0x40086602, 0x401c5820, 0x40087602];
