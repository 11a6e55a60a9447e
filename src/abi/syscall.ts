/** One row of the syscall table: what a call is named, takes, touches and gives back. */
export interface Syscall {
  readonly nr: number;
  readonly name: string;
  readonly args: readonly Argument[];
  /** Groups a policy can subscribe to as a whole: file, read, write, network, process, memory, time … */
  readonly classes: readonly string[];
  readonly returns: ReturnKind;
}

export type ReturnKind =
  | "zero" // 0 or an errno
  | "fd" // a new file descriptor
  | "count" // bytes or items transferred; out buffers hold that many
  | "pid"
  | "address"
  | "offset"
  | "flags"
  | "value" // any other number
  | "never"; // exit, exit_group, rt_sigreturn

/**
 * What an argument means. `width` is how much of the register the kernel looks at: a 32-bit
 * argument may carry garbage in the upper half, and a rule must not be fooled by it.
 */
export interface Argument {
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly width: 32 | 64;
  /** Flag or enumeration table (in flags.generated.ts) that names the value, e.g. "open", "mmap_prot", "socket_family". */
  readonly flags?: string;
  /** For pointers: who writes what is pointed at. Default "in". */
  readonly direction?: "in" | "out" | "inout";
  /** Index of the argument that holds the length or the element count of this buffer, sockaddr or iovec. */
  readonly length?: number;
  /** True when `length` names a pointer to the length (getsockname, accept, getsockopt), not the length itself. */
  readonly lengthIsPointer?: boolean;
  /** For out buffers: the return value says how much of it was filled. */
  readonly filled?: "result";
  /** Index of the dirfd that a path is relative to; absent means the working directory. */
  readonly dirfd?: number;
  /**
   * Whether a path's last component is followed when it is a symlink: always, never, or as a flag says:
   * "unless:N:MASK" (followed unless args[N] & MASK) or "if:N:MASK" (followed only if args[N] & MASK).
   * A trailing slash makes the kernel follow it in any case, except where the component is being made or
   * removed (path_resolution(7)). An empty or NULL path means the dirfd itself where AT_EMPTY_PATH allows it.
   */
  readonly follow?: "always" | "never" | `unless:${number}:${number}` | `if:${number}:${number}`;
  /**
   * "N:MASK": besides `follow`, the last component is not followed either when all bits of MASK are set in
   * args[N]. open with O_CREAT|O_EXCL, where a symlink is EEXIST (open(2)).
   */
  readonly noFollowAll?: `${number}:${number}`;
  /**
   * Index of the struct open_how whose flags (its first 8 bytes) and resolve decide instead of `follow`, which
   * is then absent: openat2 alone.
   */
  readonly how?: number;
  /** True when the path's last component may be made by the call (open with O_CREAT, mkdir, rename's target …). */
  readonly creates?: boolean;
  /**
   * For structs: the kernel's struct name and its fixed size in bytes (0 when `length` gives it). With both a
   * length and a size it is an array of `length` elements. A scalar that a pointer leads to has its C type as
   * its name: "int", "loff_t".
   */
  readonly struct?: string;
  readonly size?: number;
}

export type ArgumentKind =
  | "int" // signed number
  | "uint" // unsigned number: counts, ids without a kind of their own
  | "size" // a number of bytes or items
  | "offset" // a file position (signed 64-bit)
  | "flags" // bits or an enumeration: see `flags`
  | "mode" // permission bits
  | "fd"
  | "dirfd" // an fd or AT_FDCWD
  | "pid"
  | "uid"
  | "gid"
  | "signal"
  | "address" // an opaque pointer that we do not read
  | "path" // NUL-terminated, resolved in the file system
  | "string" // NUL-terminated, not a path: xattr name, file system type, host name …
  | "buffer" // bytes; `length` says how many
  | "iovec" // struct iovec[]; `length` is the count
  | "sockaddr"
  | "msghdr" // struct msghdr
  | "mmsghdr" // struct mmsghdr[]
  | "argv" // NULL-terminated char*[]
  | "fds" // int[2] or an array of fds
  | "struct"; // fixed layout: see `struct` and `size`
