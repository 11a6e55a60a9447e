/** One thing that a program could do, and what it would need for it: functions it imports, system calls it makes. */
interface CapabilityRow {
  readonly id: string;
  readonly what: string;
  /** Names of functions; `*` matches any text. */
  readonly imports: string;
  readonly calls: string;
  /** Text in the file that names what it would use. */
  readonly text?: RegExp;
  /** Few programs need it: worth a second look. */
  readonly notable?: true;
}

export const CAPABILITIES: readonly CapabilityRow[] = [
  {
    id: "connect",
    what: "connects to others over a network or a local socket",
    imports:
      "connect sendto sendmsg sendmmsg curl_easy_perform curl_multi_perform BIO_do_connect uv_tcp_connect g_socket_client_connect*",
    calls: "connect sendto sendmsg sendmmsg",
  },
  {
    id: "listen",
    what: "takes connections from others",
    imports: "bind listen accept accept4 uv_listen evhttp_bind_socket* MHD_start_daemon*",
    calls: "bind listen accept accept4",
  },
  {
    id: "raw-network",
    what: "reads or writes packets below the usual protocols",
    imports: "pcap_* libnet_* nfq_* ibv_*",
    calls: "",
    notable: true,
  },
  {
    id: "resolve",
    what: "looks up names of hosts",
    imports:
      "getaddrinfo getaddrinfo_a gethostbyname gethostbyname2 gethostbyname_r gethostbyaddr getnameinfo res_query res_search res_nquery res_nsearch __res_* ares_* ldns_*",
    calls: "",
  },
  {
    id: "tls",
    what: "speaks TLS",
    imports: "SSL_* gnutls_handshake gnutls_init gnutls_record_* mbedtls_ssl_* wolfSSL_* SSL_CTX_*",
    calls: "",
  },
  {
    id: "exec",
    what: "starts other programs",
    imports:
      "execve execv execvp execvpe execl execle execlp fexecve execveat posix_spawn posix_spawnp system popen wordexp g_spawn_* uv_spawn",
    calls: "execve execveat",
  },
  {
    id: "fork",
    what: "makes further processes",
    imports: "fork vfork clone _Fork forkpty daemon",
    calls: "fork vfork",
  },
  {
    id: "threads",
    what: "runs several threads",
    imports: "pthread_create thrd_create g_thread_new uv_thread_create",
    calls: "clone clone3",
  },
  {
    id: "load-code",
    what: "loads code while it runs: plug-ins and libraries",
    imports: "dlopen dlmopen g_module_open lt_dlopen* uv_dlopen",
    calls: "",
  },
  {
    id: "make-code",
    what: "makes memory executable, or runs files that are nowhere on disk",
    imports: "mprotect pkey_mprotect memfd_create LLVM*JIT* ffi_closure_alloc",
    calls: "mprotect pkey_mprotect memfd_create",
  },
  {
    id: "read-files",
    what: "opens files",
    imports:
      "open open64 openat openat64 fopen fopen64 freopen freopen64 opendir fdopendir scandir* ftw nftw fts_open _ZNSt13basic_filebuf* _ZNSt14basic_ifstream*",
    calls: "open openat openat2 creat",
  },
  {
    id: "change-files",
    what: "makes, renames or removes files",
    imports:
      "unlink unlinkat remove rename renameat renameat2 rmdir mkdir mkdirat link linkat symlink symlinkat truncate truncate64 ftruncate ftruncate64 creat creat64 mkstemp* mkostemp* mkdtemp tmpfile* mknod mknodat",
    calls:
      "unlink unlinkat rename renameat renameat2 rmdir mkdir mkdirat link linkat symlink symlinkat truncate ftruncate mknod mknodat creat",
  },
  {
    id: "change-rights",
    what: "changes owners and rights of files",
    imports: "chmod fchmod fchmodat chown fchown lchown fchownat setxattr lsetxattr fsetxattr acl_set_*",
    calls: "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat setxattr lsetxattr fsetxattr",
  },
  {
    id: "watch-files",
    what: "watches files for changes",
    imports: "inotify_init inotify_init1 inotify_add_watch fanotify_init fanotify_mark",
    calls: "inotify_init inotify_init1 inotify_add_watch fanotify_init fanotify_mark",
  },
  {
    id: "signal",
    what: "sends signals to other processes",
    imports: "kill killpg tgkill sigqueue pidfd_send_signal pthread_sigqueue",
    calls: "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal",
  },
  {
    id: "look-into-processes",
    what: "looks into, or changes, other processes",
    imports: "ptrace process_vm_readv process_vm_writev pidfd_getfd",
    calls: "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise",
    text: /^\/proc\/(?:%[du]|\d+)\/mem$/,
    notable: true,
  },
  {
    id: "privileges",
    what: "changes users, groups or capabilities",
    imports:
      "setuid setgid seteuid setegid setreuid setregid setresuid setresgid setgroups initgroups capset cap_set_* pam_*",
    calls: "setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset",
  },
  {
    id: "passwords",
    what: "reads or checks passwords and users' secrets",
    imports:
      "getpass crypt crypt_r crypt_gensalt* getspnam getspnam_r getspent secret_password_* keyctl pam_authenticate",
    calls: "keyctl add_key request_key",
    text: /^\/etc\/g?shadow$/,
    notable: true,
  },
  {
    id: "mounts",
    what: "changes what is mounted, or the root folder",
    imports: "mount umount umount2 chroot pivot_root mnt_context_*",
    calls: "mount umount2 chroot pivot_root move_mount open_tree fsopen fsmount mount_setattr",
    notable: true,
  },
  {
    id: "namespaces",
    what: "makes or enters namespaces",
    imports: "unshare setns",
    calls: "unshare setns",
    notable: true,
  },
  {
    id: "kernel",
    what: "changes the kernel: modules, BPF, reboot, clocks, swap",
    imports:
      "init_module finit_module delete_module kmod_module_* bpf bpf_* reboot settimeofday clock_settime adjtimex swapon swapoff iopl ioperm kexec_load klogctl sethostname setdomainname",
    calls:
      "init_module finit_module delete_module bpf reboot settimeofday clock_settime swapon swapoff iopl ioperm kexec_load kexec_file_load syslog sethostname setdomainname perf_event_open userfaultfd",
    notable: true,
  },
  {
    id: "io-uring",
    what: "uses io_uring, whose requests are no system calls",
    imports: "io_uring_queue_init io_uring_setup io_uring_enter io_uring_submit",
    calls: "io_uring_setup io_uring_enter io_uring_register",
    notable: true,
  },
  {
    id: "keyboard",
    what: "reads the keyboard or other input devices",
    imports:
      "XGrabKeyboard XQueryKeymap XGrabKey XISelectEvents XRecord* libevdev_* libinput_* xcb_grab_keyboard xcb_query_keymap",
    calls: "",
    text: /^\/dev\/(?:input\/|hidraw|uinput)/,
    notable: true,
  },
  {
    id: "screen",
    what: "reads the screen",
    imports: "XGetImage XShmGetImage xcb_get_image xcb_shm_get_image pw_stream_connect",
    calls: "",
    text: /^\/dev\/(?:fb\d|dri\/)/,
    notable: true,
  },
  {
    id: "sound-and-cameras",
    what: "records or plays sound, or uses a camera",
    imports: "snd_pcm_open pa_simple_new pa_stream_new* jack_client_open v4l2_open SDL_OpenAudio*",
    calls: "",
    text: /^\/dev\/(?:video|snd\/)/,
    notable: true,
  },
  {
    id: "crypto",
    what: "encrypts, decrypts or hashes",
    imports:
      "EVP_* AES_* RSA_* SHA1* SHA256* SHA512* MD5* HMAC* CRYPTO_gcm* gcry_* crypto_* nettle_* mbedtls_aes_* PK11_* gnutls_cipher_*",
    calls: "",
  },
  {
    id: "random",
    what: "draws random bytes from the kernel",
    imports: "getrandom getentropy arc4random arc4random_buf arc4random_uniform RAND_bytes",
    calls: "getrandom",
  },
  {
    id: "databases",
    what: "reads or writes databases",
    imports: "sqlite3_open* PQconnect* mysql_real_connect mongoc_* redisConnect* mdb_env_open db_create",
    calls: "",
  },
  {
    id: "compression",
    what: "packs or unpacks data",
    imports:
      "inflate* deflate* gzopen* compress uncompress LZ4_* LZ4F_* ZSTD_* BZ2_* lzma_* BrotliDecoder* BrotliEncoder* archive_read_*",
    calls: "",
  },
  {
    id: "environment",
    what: "reads or changes environment variables",
    imports: "getenv secure_getenv setenv putenv unsetenv clearenv",
    calls: "",
  },
  {
    id: "terminal",
    what: "steers a terminal",
    imports:
      "tcsetattr cfmakeraw openpty forkpty posix_openpt grantpt initscr newterm rl_* tgetent setupterm",
    calls: "",
  },
  {
    id: "shared-memory",
    what: "shares memory or messages with other processes",
    imports: "shm_open shmget shmat msgget mq_open semget sem_open",
    calls: "shmget shmat msgget mq_open semget",
  },
  {
    id: "sandbox",
    what: "confines itself",
    imports: "seccomp_* prctl landlock_*",
    calls: "seccomp landlock_create_ruleset landlock_restrict_self prctl",
  },
];
