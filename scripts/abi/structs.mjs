/**
 * Sizes of what pointers point at. `C_NAMES` maps the type a prototype names to the expression whose
 * size is taken by compiling it against uapi; the structs' own names are used where there is no entry.
 */
export const STRUCT_HEADERS = `
  linux/types.h linux/posix_types.h linux/time.h linux/times.h linux/timex.h linux/resource.h asm/signal.h asm/siginfo.h
  asm/stat.h linux/stat.h asm/statfs.h linux/utsname.h linux/sysinfo.h linux/utime.h linux/poll.h linux/eventpoll.h
  linux/msg.h linux/sem.h linux/shm.h asm/msgbuf.h asm/shmbuf.h linux/mqueue.h linux/aio_abi.h linux/io_uring.h
  linux/capability.h linux/sched/types.h linux/perf_event.h linux/futex.h linux/kexec.h linux/mman.h linux/mount.h
  linux/fcntl.h linux/openat2.h linux/sched.h linux/landlock.h linux/uio.h linux/socket.h`
  .trim()
  .split(/\s+/);

/** Prototype type -> [name in our table, C expression]. */
export const C_NAMES = {
  "struct __kernel_timespec": ["timespec", "struct __kernel_timespec"],
  "struct __kernel_old_timeval": ["timeval", "struct __kernel_old_timeval"],
  "struct __kernel_itimerspec": ["itimerspec", "struct __kernel_itimerspec"],
  "struct __kernel_old_itimerval": ["itimerval", "struct __kernel_old_itimerval"],
  "struct __kernel_timex": ["timex", "struct __kernel_timex"],
  "struct siginfo": ["siginfo", "siginfo_t"],
  siginfo_t: ["siginfo", "siginfo_t"],
  sigset_t: ["sigset", "sigset_t"],
  "struct sigaltstack": ["stack", "stack_t"],
  stack_t: ["stack", "stack_t"],
  fd_set: ["fd_set", "__kernel_fd_set"],
  // The *64 layouts are the only ones on x86_64, whatever the prototype says (ipc/util.h, IPC_64).
  "struct msqid_ds": ["msqid_ds", "struct msqid64_ds"],
  "struct shmid_ds": ["shmid_ds", "struct shmid64_ds"],
  cap_user_header_t: ["cap_header", "struct __user_cap_header_struct"],
  // Versions 2 and 3, the ones in use, take two elements (capget(2)).
  cap_user_data_t: ["cap_data", "struct __user_cap_data_struct[2]"],
  aio_context_t: ["aio_context_t", "aio_context_t"],
  __kernel_old_time_t: ["time_t", "__kernel_old_time_t"],
  timer_t: ["timer_t", "__kernel_timer_t"],
  int: ["int", "int"],
  unsigned: ["unsigned int", "unsigned int"],
  "unsigned int": ["unsigned int", "unsigned int"],
  u32: ["u32", "__u32"],
  u64: ["u64", "__u64"],
  uid_t: ["uid_t", "__kernel_uid32_t"],
  gid_t: ["gid_t", "__kernel_gid32_t"],
  size_t: ["size_t", "__kernel_size_t"],
  loff_t: ["loff_t", "__kernel_loff_t"],
  pointer: ["pointer", "void *"],
  "timeval[2]": ["timeval[2]", "struct __kernel_old_timeval[2]"],
  "timespec[2]": ["timespec[2]", "struct __kernel_timespec[2]"],
  "futex_waitv[2]": ["futex_waitv[2]", "struct futex_waitv[2]"],
};

/** Sizes no uapi header of the pinned version has. */
export const FIXED_SIZES = {
  sched_param: 4, // include/linux/sched.h: int sched_priority
  file_handle: 8, // the header; handle_bytes more follow it (open_by_handle_at(2))
  ustat: 32, // include/linux/types.h: int, unsigned long, char[6], char[6]
  ns_id_req: 32, // linux/nsfs.h since 6.19, NS_ID_REQ_SIZE_VER0
};
