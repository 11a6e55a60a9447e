/**
 * The flag and enumeration tables, by the names that annotations.mjs uses.
 *
 *   kind    "bits": the names are or-ed together; "enum": the value is one of the names
 *   names   which constants belong: a pattern over every constant of the headers, or a list
 *   not     constants that the pattern matches and that do not belong
 *   mask    for bits: the part of the value that is an enumeration of its own (open's access mode)
 *   from    a header that is not part of uapi, read as text ("include/linux/socket.h")
 *   add     constants that the headers lack: newer than they are, or known to user space only
 */
const bits = (names, more = {}) => ({ kind: "bits", names, ...more });
const oneOf = (names, more = {}) => ({ kind: "enum", names, ...more });
const list = (text) => text.trim().split(/\s+/);

const AT_COMMON = "AT_SYMLINK_NOFOLLOW AT_SYMLINK_FOLLOW AT_NO_AUTOMOUNT AT_EMPTY_PATH AT_RECURSIVE";
const NAMESPACES = /^CLONE_NEW(NS|CGROUP|UTS|IPC|USER|PID|NET|TIME)$/;

export const FLAG_TABLES = {
  open: bits(
    list(`O_RDONLY O_WRONLY O_RDWR O_CREAT O_EXCL O_NOCTTY O_TRUNC O_APPEND O_NONBLOCK O_DSYNC FASYNC O_DIRECT
      O_LARGEFILE O_DIRECTORY O_NOFOLLOW O_NOATIME O_CLOEXEC O_SYNC O_PATH O_TMPFILE`),
    { mask: 3 },
  ),
  resolve: bits(/^RESOLVE_/),
  cloexec: bits(["O_CLOEXEC"]),
  pipe: bits(list("O_CLOEXEC O_NONBLOCK O_DIRECT"), { add: { O_NOTIFICATION_PIPE: 0o200 } }),
  access: bits([], { add: { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 } }),
  at: bits(list(AT_COMMON)),
  unlinkat: bits(["AT_REMOVEDIR"]),
  faccessat: bits(list("AT_SYMLINK_NOFOLLOW AT_EACCESS AT_EMPTY_PATH")),
  execveat: bits(list("AT_SYMLINK_NOFOLLOW AT_EMPTY_PATH"), { add: { AT_EXECVE_CHECK: 0x10000 } }),
  statx_at: bits(list(`${AT_COMMON} AT_STATX_FORCE_SYNC AT_STATX_DONT_SYNC`)),
  statx_mask: bits(/^STATX_(?!ATTR)/, { not: ["STATX__RESERVED", "STATX_ALL"] }),
  name_to_handle_at: bits(list("AT_SYMLINK_FOLLOW AT_EMPTY_PATH AT_HANDLE_FID AT_HANDLE_MNT_ID_UNIQUE"), {
    add: { AT_HANDLE_CONNECTABLE: 0x2 },
  }),
  whence: oneOf(/^SEEK_(SET|CUR|END|DATA|HOLE)$/),
  fcntl: oneOf(
    list(`F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL F_GETLK F_SETLK F_SETLKW F_SETOWN F_GETOWN F_SETSIG F_GETSIG
      F_SETOWN_EX F_GETOWN_EX F_GETOWNER_UIDS F_OFD_GETLK F_OFD_SETLK F_OFD_SETLKW F_SETLEASE F_GETLEASE
      F_CANCELLK F_DUPFD_CLOEXEC F_DUPFD_QUERY F_CREATED_QUERY F_NOTIFY F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS
      F_GET_SEALS F_GET_RW_HINT F_SET_RW_HINT F_GET_FILE_RW_HINT F_SET_FILE_RW_HINT`),
  ),
  seals: bits(/^F_SEAL_/),
  flock: bits(list("LOCK_SH LOCK_EX LOCK_NB LOCK_UN")),
  rename: bits(/^RENAME_/),
  fallocate: bits(/^FALLOC_FL_/, { not: ["FALLOC_FL_NO_HIDE_STALE"] }),
  fadvise: oneOf(/^POSIX_FADV_/),
  sync_file_range: bits(/^SYNC_FILE_RANGE_(WAIT_BEFORE|WRITE|WAIT_AFTER)$/),
  splice: bits(/^SPLICE_F_(MOVE|NONBLOCK|MORE|GIFT)$/, { from: "include/linux/splice.h" }),
  rwf: bits(/^RWF_/, { not: ["RWF_SUPPORTED", "RWF_WRITE_LIFE_NOT_SET"] }),
  xattr: bits(/^XATTR_(CREATE|REPLACE)$/),
  close_range: bits(/^CLOSE_RANGE_/),
  memfd: bits(/^MFD_(CLOEXEC|ALLOW_SEALING|HUGETLB|NOEXEC_SEAL|EXEC)$/),

  mmap_prot: bits(list("PROT_NONE PROT_READ PROT_WRITE PROT_EXEC PROT_SEM PROT_GROWSDOWN PROT_GROWSUP")),
  mmap_flags: bits(
    list(`MAP_SHARED MAP_PRIVATE MAP_SHARED_VALIDATE MAP_DROPPABLE MAP_FIXED MAP_ANONYMOUS MAP_32BIT MAP_ABOVE4G
      MAP_GROWSDOWN MAP_DENYWRITE MAP_EXECUTABLE MAP_LOCKED MAP_NORESERVE MAP_POPULATE MAP_NONBLOCK MAP_STACK
      MAP_HUGETLB MAP_SYNC MAP_FIXED_NOREPLACE MAP_UNINITIALIZED`),
    { mask: 15 },
  ),
  mremap: bits(/^MREMAP_/),
  msync: bits(/^MS_(ASYNC|INVALIDATE|SYNC)$/),
  madvise: oneOf(/^MADV_/, { add: { MADV_GUARD_INSTALL: 102, MADV_GUARD_REMOVE: 103 } }),
  mlock2: bits(["MLOCK_ONFAULT"]),
  mlockall: bits(/^MCL_/),
  mempolicy: bits(
    list(`MPOL_DEFAULT MPOL_PREFERRED MPOL_BIND MPOL_INTERLEAVE MPOL_LOCAL MPOL_PREFERRED_MANY
      MPOL_WEIGHTED_INTERLEAVE MPOL_F_STATIC_NODES MPOL_F_RELATIVE_NODES MPOL_F_NUMA_BALANCING`),
    { mask: 0xfff },
  ),
  mbind: bits(list("MPOL_MF_STRICT MPOL_MF_MOVE MPOL_MF_MOVE_ALL")),
  get_mempolicy: bits(list("MPOL_F_NODE MPOL_F_ADDR MPOL_F_MEMS_ALLOWED")),
  membarrier: oneOf(/^MEMBARRIER_CMD_/, { not: list("MEMBARRIER_CMD_SHARED MEMBARRIER_CMD_FLAG_CPU") }),
  membarrier_flags: bits(["MEMBARRIER_CMD_FLAG_CPU"]),
  pkey: bits(/^PKEY_DISABLE_(ACCESS|WRITE)$/),
  shadow_stack: bits(["SHADOW_STACK_SET_TOKEN"], { add: { SHADOW_STACK_SET_MARKER: 2 } }),
  userfaultfd: bits(list("O_CLOEXEC O_NONBLOCK UFFD_USER_MODE_ONLY")),

  socket_family: oneOf(/^AF_/, { from: "include/linux/socket.h", not: list("AF_LOCAL AF_ROUTE AF_MAX") }),
  socket_type: bits(/^SOCK_(STREAM|DGRAM|RAW|RDM|SEQPACKET|DCCP|PACKET)$/, {
    from: "include/linux/net.h",
    mask: 15,
    add: { SOCK_NONBLOCK: 0o4000, SOCK_CLOEXEC: 0o2000000 },
  }),
  accept4: bits([], { add: { SOCK_NONBLOCK: 0o4000, SOCK_CLOEXEC: 0o2000000 } }),
  ipproto: oneOf(/^IPPROTO_/, { not: ["IPPROTO_MAX"] }),
  msg: bits(/^MSG_[A-Z_0-9]+$/, {
    from: "include/linux/socket.h",
    not: list(`MSG_CMSG_COMPAT MSG_EOF MSG_INTERNAL_SENDMSG_FLAGS MSG_TRYHARD MSG_SENDPAGE_NOTLAST
      MSG_SENDPAGE_NOPOLICY MSG_SENDPAGE_DECRYPTED MSG_NO_SHARED_FRAGS MSG_SPLICE_PAGES`),
  }),
  shutdown: oneOf([], { add: { SHUT_RD: 0, SHUT_WR: 1, SHUT_RDWR: 2 } }),
  sockopt_level: oneOf(/^SOL_/, { from: "include/linux/socket.h", add: { SOL_SOCKET: 1 } }),
  sockopt: oneOf(/^SO_/, {
    not: list(`SO_TIMESTAMP SO_TIMESTAMPNS SO_TIMESTAMPING SO_RCVTIMEO SO_SNDTIMEO SO_GET_FILTER
      SO_DETACH_BPF`),
    rename: [/_OLD$/, ""],
  }),

  sockopt_tcp: oneOf(
    list(`TCP_NODELAY TCP_MAXSEG TCP_CORK TCP_KEEPIDLE TCP_KEEPINTVL TCP_KEEPCNT TCP_SYNCNT TCP_LINGER2
      TCP_DEFER_ACCEPT TCP_WINDOW_CLAMP TCP_INFO TCP_QUICKACK TCP_CONGESTION TCP_MD5SIG TCP_THIN_LINEAR_TIMEOUTS
      TCP_THIN_DUPACK TCP_USER_TIMEOUT TCP_REPAIR TCP_REPAIR_QUEUE TCP_QUEUE_SEQ TCP_REPAIR_OPTIONS TCP_FASTOPEN
      TCP_TIMESTAMP TCP_NOTSENT_LOWAT TCP_CC_INFO TCP_SAVE_SYN TCP_SAVED_SYN TCP_REPAIR_WINDOW
      TCP_FASTOPEN_CONNECT TCP_ULP TCP_MD5SIG_EXT TCP_FASTOPEN_KEY TCP_FASTOPEN_NO_COOKIE TCP_ZEROCOPY_RECEIVE
      TCP_INQ TCP_TX_DELAY TCP_AO_ADD_KEY TCP_AO_DEL_KEY TCP_AO_INFO TCP_AO_GET_KEYS TCP_AO_REPAIR
      TCP_IS_MPTCP`),
  ),
  sockopt_ip: oneOf(/^(IP|MCAST)_[A-Z0-9_]+$/, {
    not: list(`IP_PMTUDISC_DONT IP_PMTUDISC_WANT IP_PMTUDISC_DO IP_PMTUDISC_PROBE IP_PMTUDISC_INTERFACE
      IP_PMTUDISC_OMIT IP_DEFAULT_MULTICAST_TTL IP_DEFAULT_MULTICAST_LOOP IP_RECVRETOPTS MCAST_EXCLUDE
      MCAST_INCLUDE IP_CT_ESTABLISHED`),
  }),
  sockopt_ipv6: oneOf(/^IPV6_[A-Z0-9_]+$/, {
    only: (name) => !/^IPV6_(PMTUDISC_|FL_|FLOWINFO_|PRIORITY_|TLV_|SRCRT_|OPT_|PREFER_SRC_)/.test(name),
  }),

  clone: bits(/^CLONE_/, {
    mask: 0xff,
    not: list(
      "CLONE_ARGS_SIZE_VER0 CLONE_ARGS_SIZE_VER1 CLONE_ARGS_SIZE_VER2 CLONE_NEWTIME CLONE_CLEAR_SIGHAND CLONE_INTO_CGROUP",
    ),
    add: { SIGCHLD: 17 },
  }),
  clone3: bits(/^CLONE_/, {
    not: list("CLONE_ARGS_SIZE_VER0 CLONE_ARGS_SIZE_VER1 CLONE_ARGS_SIZE_VER2"),
  }),
  unshare: bits(/^CLONE_(NEW(NS|CGROUP|UTS|IPC|USER|PID|NET|TIME)|FILES|FS|SYSVSEM|THREAD|SIGHAND|VM)$/),
  namespace: bits(NAMESPACES),
  wait: bits(/^(WNOHANG|WUNTRACED|WEXITED|WCONTINUED|WNOWAIT|__WNOTHREAD|__WALL|__WCLONE)$/),
  waitid: oneOf(/^P_(ALL|PID|PGID|PIDFD)$/),
  prctl: oneOf(
    /^PR_(SET|GET|CAPBSET|CAP_AMBIENT|TASK_PERF|MCE_KILL|MCE_KILL_GET|SCHED_CORE|PAC|SVE|SME|RISCV_V|PPC)_?[A-Z_0-9]*$/,
    {
      not: list(`PR_SET_MM_START_CODE PR_SET_MM_END_CODE PR_SET_MM_START_DATA PR_SET_MM_END_DATA PR_SET_MM_START_STACK
      PR_SET_MM_START_BRK PR_SET_MM_BRK PR_SET_MM_ARG_START PR_SET_MM_ARG_END PR_SET_MM_ENV_START PR_SET_MM_ENV_END
      PR_SET_MM_AUXV PR_SET_MM_EXE_FILE PR_SET_MM_MAP PR_SET_MM_MAP_SIZE PR_SET_PTRACER_ANY PR_SET_VMA_ANON_NAME
      PR_CAP_AMBIENT_IS_SET PR_CAP_AMBIENT_RAISE PR_CAP_AMBIENT_LOWER PR_CAP_AMBIENT_CLEAR_ALL PR_MCE_KILL_CLEAR
      PR_MCE_KILL_SET PR_MCE_KILL_LATE PR_MCE_KILL_EARLY PR_MCE_KILL_DEFAULT PR_SCHED_CORE_GET PR_SCHED_CORE_CREATE
      PR_SCHED_CORE_SHARE_TO PR_SCHED_CORE_SHARE_FROM PR_SCHED_CORE_MAX PR_SCHED_CORE_SCOPE_THREAD
      PR_SCHED_CORE_SCOPE_THREAD_GROUP PR_SCHED_CORE_SCOPE_PROCESS_GROUP`),
      only: (name, value) =>
        !/^PR_(PAC_AP|SVE_VL|SVE_SET_VL_|SME_VL|SME_SET_VL_|RISCV_V_(VSTATE|GET_CONTROL_)|PPC_DEXCR|RISCV_CTX)/.test(
          name,
        ) || value === 50,
    },
  ),
  arch_prctl: oneOf(/^ARCH_[A-Z0-9_]+$/, {
    not: list("ARCH_SHSTK_SHSTK ARCH_SHSTK_WRSS ARCH_XCOMP_TILECFG ARCH_XCOMP_TILEDATA"),
  }),
  seccomp: oneOf(/^SECCOMP_(SET_MODE_STRICT|SET_MODE_FILTER|GET_ACTION_AVAIL|GET_NOTIF_SIZES)$/),
  seccomp_filter: bits(/^SECCOMP_FILTER_FLAG_/),
  ptrace: oneOf(/^PTRACE_/, {
    only: (name) => !/^PTRACE_(O_|EVENT_|EVENTMSG_|SYSCALL_INFO|PEEKSIGINFO_SHARED)/.test(name),
  }),
  rlimit: oneOf(/^RLIMIT_/),
  rusage: oneOf(/^RUSAGE_/, { not: ["RUSAGE_BOTH"] }),
  priority: oneOf(/^PRIO_(PROCESS|PGRP|USER)$/),
  ioprio: oneOf(/^IOPRIO_WHO_/),
  sched_policy: bits(/^SCHED_(NORMAL|FIFO|RR|BATCH|IDLE|DEADLINE|EXT|RESET_ON_FORK)$/, { mask: 0xff }),
  personality: bits(
    /^(PER_[A-Z0-9]+|UNAME26|ADDR_NO_RANDOMIZE|FDPIC_FUNCPTRS|MMAP_PAGE_ZERO|ADDR_COMPAT_LAYOUT|READ_IMPLIES_EXEC|ADDR_LIMIT_32BIT|SHORT_INODE|WHOLE_SECONDS|STICKY_TIMEOUTS|ADDR_LIMIT_3GB)$/,
    {
      mask: 0xff,
      only: (name, value) => !name.startsWith("PER_") || value <= 0xff,
      not: ["PER_MASK"],
    },
  ),
  kcmp: oneOf(/^KCMP_/, { not: ["KCMP_TYPES"] }),
  rseq: bits(["RSEQ_FLAG_UNREGISTER"]),
  pidfd_open: bits(list("PIDFD_NONBLOCK PIDFD_THREAD")),
  pidfd_signal: bits(/^PIDFD_SIGNAL_/),
  sigprocmask: oneOf(/^SIG_(BLOCK|UNBLOCK|SETMASK)$/),

  futex: bits(
    /^FUTEX_(WAIT|WAKE|FD|REQUEUE|CMP_REQUEUE|WAKE_OP|LOCK_PI|UNLOCK_PI|TRYLOCK_PI|WAIT_BITSET|WAKE_BITSET|WAIT_REQUEUE_PI|CMP_REQUEUE_PI|LOCK_PI2|PRIVATE_FLAG|CLOCK_REALTIME)$/,
    {
      mask: 0x7f,
    },
  ),
  futex2: bits(/^FUTEX2_(SIZE_U8|SIZE_U16|SIZE_U32|SIZE_U64|NUMA|PRIVATE)$/, { mask: 3 }),
  ipc_get: bits(/^IPC_(CREAT|EXCL)$/),
  shmget: bits(/^(IPC_(CREAT|EXCL)|SHM_(HUGETLB|NORESERVE))$/),
  shmat: bits(/^SHM_(RDONLY|RND|REMAP|EXEC)$/),
  msgrcv: bits(list("IPC_NOWAIT MSG_NOERROR MSG_EXCEPT MSG_COPY")),
  shmctl: oneOf(/^(IPC_(RMID|SET|STAT|INFO)|SHM_(LOCK|UNLOCK|STAT|INFO|STAT_ANY))$/),
  msgctl: oneOf(/^(IPC_(RMID|SET|STAT|INFO)|MSG_(STAT|INFO|STAT_ANY))$/),
  semctl: oneOf(
    /^(IPC_(RMID|SET|STAT|INFO)|GETPID|GETVAL|GETALL|GETNCNT|GETZCNT|SETVAL|SETALL|SEM_(STAT|INFO|STAT_ANY))$/,
  ),
  eventfd: bits(/^EFD_(SEMAPHORE|CLOEXEC|NONBLOCK)$/),
  epoll_create: bits(["EPOLL_CLOEXEC"]),
  epoll_op: oneOf(/^EPOLL_CTL_/),
  epoll_events: bits(
    /^EPOLL(IN|PRI|OUT|ERR|HUP|NVAL|RDNORM|RDBAND|WRNORM|WRBAND|MSG|RDHUP|URING_WAKE|EXCLUSIVE|WAKEUP|ONESHOT|ET)$/,
  ),
  poll_events: bits(/^POLL(IN|PRI|OUT|ERR|HUP|NVAL|RDNORM|RDBAND|WRNORM|WRBAND|MSG|REMOVE|RDHUP)$/),
  inotify_init: bits(/^IN_(CLOEXEC|NONBLOCK)$/),
  inotify_mask: bits(
    /^IN_(ACCESS|MODIFY|ATTRIB|CLOSE_WRITE|CLOSE_NOWRITE|OPEN|MOVED_FROM|MOVED_TO|CREATE|DELETE|DELETE_SELF|MOVE_SELF|UNMOUNT|Q_OVERFLOW|IGNORED|ONLYDIR|DONT_FOLLOW|EXCL_UNLINK|MASK_CREATE|MASK_ADD|ISDIR|ONESHOT)$/,
  ),
  fanotify_init: bits(
    /^FAN_(CLOEXEC|NONBLOCK|CLASS_CONTENT|CLASS_PRE_CONTENT|UNLIMITED_QUEUE|UNLIMITED_MARKS|ENABLE_AUDIT|REPORT_(PIDFD|TID|FID|DIR_FID|NAME|TARGET_FID))$/,
    {
      add: { FAN_REPORT_FD_ERROR: 0x2000, FAN_REPORT_MNT: 0x4000 },
    },
  ),
  fanotify_mark: bits(
    /^FAN_MARK_(ADD|REMOVE|DONT_FOLLOW|ONLYDIR|MOUNT|IGNORED_MASK|IGNORED_SURV_MODIFY|FLUSH|FILESYSTEM|EVICTABLE|IGNORE)$/,
  ),
  fanotify_mask: bits(
    /^FAN_(ACCESS|MODIFY|ATTRIB|CLOSE_WRITE|CLOSE_NOWRITE|OPEN|MOVED_FROM|MOVED_TO|CREATE|DELETE|DELETE_SELF|MOVE_SELF|OPEN_EXEC|Q_OVERFLOW|FS_ERROR|OPEN_PERM|ACCESS_PERM|OPEN_EXEC_PERM|EVENT_ON_CHILD|RENAME|ONDIR)$/,
    {
      add: { FAN_PRE_ACCESS: 0x100000, FAN_MNT_ATTACH: 0x1000000, FAN_MNT_DETACH: 0x2000000 },
    },
  ),
  signalfd: bits(/^SFD_(CLOEXEC|NONBLOCK)$/),

  clock: oneOf(
    /^CLOCK_(REALTIME|MONOTONIC|PROCESS_CPUTIME_ID|THREAD_CPUTIME_ID|MONOTONIC_RAW|REALTIME_COARSE|MONOTONIC_COARSE|BOOTTIME|REALTIME_ALARM|BOOTTIME_ALARM|TAI)$/,
  ),
  timer: bits(["TIMER_ABSTIME"]),
  timerfd_create: bits(/^TFD_(CLOEXEC|NONBLOCK)$/),
  timerfd_settime: bits(/^TFD_TIMER_/),
  itimer: oneOf(/^ITIMER_/),

  mount: bits(
    /^MS_(RDONLY|NOSUID|NODEV|NOEXEC|SYNCHRONOUS|REMOUNT|MANDLOCK|DIRSYNC|NOSYMFOLLOW|NOATIME|NODIRATIME|BIND|MOVE|REC|SILENT|POSIXACL|UNBINDABLE|PRIVATE|SLAVE|SHARED|RELATIME|KERNMOUNT|I_VERSION|STRICTATIME|LAZYTIME|MGC_VAL)$/,
  ),
  umount: bits(/^(MNT_(FORCE|DETACH|EXPIRE)|UMOUNT_NOFOLLOW)$/, { from: "include/linux/fs.h" }),
  open_tree: bits(
    list(`OPEN_TREE_CLONE OPEN_TREE_CLOEXEC AT_EMPTY_PATH AT_NO_AUTOMOUNT AT_RECURSIVE AT_SYMLINK_NOFOLLOW`),
  ),
  move_mount: bits(/^MOVE_MOUNT_/, { not: ["MOVE_MOUNT__MASK"] }),
  fsopen: bits(/^FSOPEN_/),
  fsconfig: oneOf(/^FSCONFIG_/),
  fsmount: bits(/^FSMOUNT_/),
  mount_attr: bits(
    /^MOUNT_ATTR_(RDONLY|NOSUID|NODEV|NOEXEC|NOATIME|STRICTATIME|NODIRATIME|IDMAP|NOSYMFOLLOW)$/,
  ),
  fspick: bits(/^FSPICK_/),
  statmount: bits([], { add: { STATMOUNT_BY_FD: 1 } }),
  listmount: bits([], { add: { LISTMOUNT_REVERSE: 1 } }),
  swapon: bits(/^SWAP_FLAG_(PREFER|DISCARD|DISCARD_ONCE|DISCARD_PAGES)$/, { from: "include/linux/swap.h" }),

  bpf: oneOf(
    /^BPF_(MAP_(CREATE|LOOKUP_ELEM|UPDATE_ELEM|DELETE_ELEM|GET_NEXT_KEY|GET_NEXT_ID|GET_FD_BY_ID|LOOKUP_AND_DELETE_ELEM|FREEZE|LOOKUP_BATCH|LOOKUP_AND_DELETE_BATCH|UPDATE_BATCH|DELETE_BATCH)|PROG_(LOAD|ATTACH|DETACH|TEST_RUN|GET_NEXT_ID|GET_FD_BY_ID|QUERY|BIND_MAP)|OBJ_(PIN|GET|GET_INFO_BY_FD)|RAW_TRACEPOINT_OPEN|BTF_(LOAD|GET_FD_BY_ID|GET_NEXT_ID)|TASK_FD_QUERY|LINK_(CREATE|UPDATE|GET_FD_BY_ID|GET_NEXT_ID|DETACH)|ENABLE_STATS|ITER_CREATE|TOKEN_CREATE)$/,
  ),
  keyctl: oneOf(
    list(`KEYCTL_GET_KEYRING_ID KEYCTL_JOIN_SESSION_KEYRING KEYCTL_UPDATE KEYCTL_REVOKE KEYCTL_CHOWN KEYCTL_SETPERM
      KEYCTL_DESCRIBE KEYCTL_CLEAR KEYCTL_LINK KEYCTL_UNLINK KEYCTL_SEARCH KEYCTL_READ KEYCTL_INSTANTIATE
      KEYCTL_NEGATE KEYCTL_SET_REQKEY_KEYRING KEYCTL_SET_TIMEOUT KEYCTL_ASSUME_AUTHORITY KEYCTL_GET_SECURITY
      KEYCTL_SESSION_TO_PARENT KEYCTL_REJECT KEYCTL_INSTANTIATE_IOV KEYCTL_INVALIDATE KEYCTL_GET_PERSISTENT
      KEYCTL_DH_COMPUTE KEYCTL_PKEY_QUERY KEYCTL_PKEY_ENCRYPT KEYCTL_PKEY_DECRYPT KEYCTL_PKEY_SIGN
      KEYCTL_PKEY_VERIFY KEYCTL_RESTRICT_KEYRING KEYCTL_MOVE KEYCTL_CAPABILITIES KEYCTL_WATCH_KEY`),
  ),
  key_serial: oneOf(/^KEY_SPEC_/),
  perf_event_open: bits(/^PERF_FLAG_/),
  io_uring_enter: bits(/^IORING_ENTER_/),
  io_uring_setup: bits(/^IORING_SETUP_/),
  io_uring_register: bits(/^IORING_(UN)?REGISTER_[A-Z0-9_]+$/, {
    mask: 0x7fffffff,
    not: list(
      "IORING_REGISTER_LAST IORING_REGISTER_FILES_SKIP IORING_REGISTER_SRC_REGISTERED IORING_REGISTER_DST_REPLACE",
    ),
  }),
  io_uring_op: oneOf(/^IORING_OP_/, { not: ["IORING_OP_LAST"] }),
  landlock_create: bits(/^LANDLOCK_CREATE_RULESET_/, { add: { LANDLOCK_CREATE_RULESET_ERRATA: 2 } }),
  landlock_restrict: bits([], {
    add: {
      LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF: 1,
      LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON: 2,
      LANDLOCK_RESTRICT_SELF_LOG_SUBDOMAINS_OFF: 4,
    },
  }),
  landlock_rule: oneOf(/^LANDLOCK_RULE_/),
  landlock_access_fs: bits(/^LANDLOCK_ACCESS_FS_/),
  landlock_access_net: bits(/^LANDLOCK_ACCESS_NET_/),
  landlock_scope: bits(/^LANDLOCK_SCOPE_/),
  lsm_attr: oneOf(/^LSM_ATTR_/),
  lsm_flag: bits(/^LSM_FLAG_/),
  getrandom: bits(/^GRND_/),
  reboot: oneOf(/^LINUX_REBOOT_CMD_/),
  syslog: oneOf(/^SYSLOG_ACTION_/, { from: "include/linux/syslog.h" }),
  delete_module: bits(list("O_NONBLOCK O_TRUNC")),
  finit_module: bits(/^MODULE_INIT_/),
  kexec_load: bits(/^KEXEC_(ON_CRASH|PRESERVE_CONTEXT|UPDATE_ELFCOREHDR|CRASH_HOTPLUG_SUPPORT)$/),
  kexec_file: bits(/^KEXEC_FILE_/),
  quota: oneOf(/^Q_(SYNC|QUOTAON|QUOTAOFF|GETFMT|GETINFO|SETINFO|GETQUOTA|SETQUOTA|GETNEXTQUOTA)$/),
  ioctl: oneOf(
    /^(TC[A-Z0-9]+|TIOC[A-Z0-9_]+|FIO[A-Z]+|SIOC[A-Z0-9_]+|FS_IOC_[A-Z0-9_]+|FICLONE|FICLONERANGE|FIDEDUPERANGE|FIBMAP|FIGETBSZ|FIFREEZE|FITHAW|FITRIM|BLK[A-Z]+|FS_IOC32_NONE|NS_GET_[A-Z_]+|PIDFD_GET_[A-Z_]+|SECCOMP_IOCTL_[A-Z_]+|UFFDIO_[A-Z_]+|TUN[SG]ET[A-Z]+|LOOP_[A-Z_0-9]+|KVM_CREATE_VM|KVM_RUN)$/,
    {
      only: (name, value) =>
        value > 0xff &&
        !/^(TIOCPKT_|TIOCM_|TIOCSER_TEMT|SIOC(DEV)?PRIVATE|SIOCPROTOPRIVATE|FS_IOC32|UFFDIO_(REGISTER_MODE|COPY_MODE|ZEROPAGE_MODE|WRITEPROTECT_MODE|CONTINUE_MODE|POISON_MODE|MOVE_MODE)|SIOC_SGISTATS)/.test(
          name,
        ) &&
        !/^(TCION|TCIOFF|TCIFLUSH|SIOCRTMSG$)/.test(name),
    },
  ),
  seccomp_ret: oneOf(/^SECCOMP_RET_(KILL_PROCESS|KILL_THREAD|TRAP|ERRNO|USER_NOTIF|TRACE|LOG|ALLOW)$/),
};

/** uapi headers that hold the constants above. */
export const FLAG_HEADERS = list(`
  linux/types.h linux/fcntl.h linux/openat2.h linux/stat.h linux/fs.h linux/falloc.h linux/fadvise.h linux/xattr.h
  linux/close_range.h linux/memfd.h linux/mman.h asm/mman.h linux/mempolicy.h linux/membarrier.h linux/userfaultfd.h
  linux/in.h linux/in6.h linux/tcp.h asm/socket.h linux/sockios.h linux/sched.h linux/wait.h linux/prctl.h asm/prctl.h linux/seccomp.h
  linux/ptrace.h asm/ptrace-abi.h asm/resource.h linux/resource.h linux/ioprio.h linux/personality.h linux/kcmp.h
  linux/rseq.h linux/pidfd.h asm/signal.h asm/siginfo.h linux/futex.h linux/ipc.h linux/shm.h linux/msg.h linux/sem.h
  linux/eventfd.h linux/eventpoll.h linux/poll.h linux/inotify.h linux/fanotify.h linux/signalfd.h linux/time.h
  linux/timerfd.h linux/mount.h linux/bpf.h linux/keyctl.h linux/perf_event.h linux/io_uring.h linux/landlock.h
  linux/lsm.h linux/random.h linux/reboot.h linux/module.h linux/kexec.h linux/quota.h asm/ioctls.h linux/nsfs.h
  asm/termbits.h linux/serial.h linux/fiemap.h linux/blktrace_api.h linux/fscrypt.h linux/fsverity.h linux/if_tun.h linux/loop.h linux/kvm.h asm/errno.h linux/blkzoned.h`);
