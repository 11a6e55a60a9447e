/**
 * Prototypes that include/linux/syscalls.h does not give for x86_64: calls that live in arch/x86, calls
 * whose argument order depends on the kernel's configuration, calls that were removed, and calls newer
 * than the pinned headers. They win over the header.
 */
export const PROTOTYPES = `
/* arch/x86: kernel/sys_x86_64.c, kernel/ldt.c, kernel/process_64.c, kernel/ioport.c, kernel/signal_64.c */
sys_mmap(unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags, unsigned long fd, unsigned long off);
sys_modify_ldt(int func, void __user *ptr, unsigned long bytecount);
sys_arch_prctl(int option, unsigned long arg2);
sys_iopl(unsigned int level);
sys_rt_sigreturn(void);

/* x86_64 has neither CONFIG_CLONE_BACKWARDS nor CONFIG_CLONE_BACKWARDS3. */
sys_clone(unsigned long clone_flags, unsigned long newsp, int __user *parent_tidptr, int __user *child_tidptr, unsigned long tls);
sys_fanotify_mark(int fanotify_fd, unsigned int flags, __u64 mask, int fd, const char __user *pathname);

/* No longer in any kernel; the prototypes are those of the last one that had them. */
sys__sysctl(void __user *args);
sys_create_module(const char __user *name, size_t size);
sys_get_kernel_syms(void __user *table);
sys_query_module(const char __user *name, int which, void __user *buf, size_t bufsize, size_t __user *ret);
sys_nfsservctl(int cmd, void __user *argp, void __user *resp);
sys_lookup_dcookie(u64 cookie64, char __user *buf, size_t len);
sys_uselib(const char __user *library);

/* A number and no implementation on x86_64, ever or any more. */
sys_getpmsg(unsigned long arg1, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5);
sys_putpmsg(unsigned long arg1, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5);
sys_afs_syscall(unsigned long arg1, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5);
sys_tuxcall(unsigned long arg1, unsigned long arg2, unsigned long arg3);
sys_security(unsigned long arg1, unsigned long arg2, unsigned long arg3);
sys_vserver(unsigned long arg1, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5);
sys_epoll_ctl_old(unsigned long arg1, unsigned long arg2, unsigned long arg3, unsigned long arg4);
sys_epoll_wait_old(unsigned long arg1, unsigned long arg2, unsigned long arg3, unsigned long arg4);
sys_set_thread_area(void __user *u_info);
sys_get_thread_area(void __user *u_info);

/* Linux 6.13 */
sys_setxattrat(int dfd, const char __user *pathname, unsigned int at_flags, const char __user *name, const struct xattr_args __user *uargs, size_t usize);
sys_getxattrat(int dfd, const char __user *pathname, unsigned int at_flags, const char __user *name, struct xattr_args __user *uargs, size_t usize);
sys_listxattrat(int dfd, const char __user *pathname, unsigned int at_flags, char __user *list, size_t size);
sys_removexattrat(int dfd, const char __user *pathname, unsigned int at_flags, const char __user *name);
/* Linux 6.15 */
sys_open_tree_attr(int dfd, const char __user *filename, unsigned flags, struct mount_attr __user *uattr, size_t usize);
/* Linux 6.17 */
sys_file_getattr(int dfd, const char __user *filename, struct file_attr __user *ufattr, size_t usize, unsigned int at_flags);
sys_file_setattr(int dfd, const char __user *filename, struct file_attr __user *ufattr, size_t usize, unsigned int at_flags);
/* Linux 6.18 */
sys_uprobe(void);
/* Linux 6.19 */
sys_listns(const struct ns_id_req __user *req, u64 __user *ns_ids, size_t nr_ns_ids, unsigned int flags);
/* Linux 7.0 */
sys_rseq_slice_yield(void);
`;

/** Numbers that the machine's headers may lack, from arch/x86/entry/syscalls/syscall_64.tbl. */
export const NUMBERS = {
  uretprobe: 335,
  uprobe: 336,
  setxattrat: 463,
  getxattrat: 464,
  listxattrat: 465,
  removexattrat: 466,
  open_tree_attr: 467,
  file_getattr: 468,
  file_setattr: 469,
  listns: 470,
  rseq_slice_yield: 471,
};

/** Where the table's name and the function's differ (syscall_64.tbl). */
export const ENTRY_POINTS = {
  stat: "newstat",
  fstat: "newfstat",
  lstat: "newlstat",
  uname: "newuname",
  sendfile: "sendfile64",
  umount2: "umount",
};
