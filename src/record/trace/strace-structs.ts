/** The structs that people look at most, from the bytes that a record holds of them. Others are `{...}`, as strace cuts them. */

type Fields = (bytes: Buffer) => string;

const long = (bytes: Buffer, at: number) => bytes.readBigInt64LE(at);
const limit = (bytes: Buffer, at: number) => {
  const value = bytes.readBigUInt64LE(at);
  return value === 2n ** 64n - 1n ? "RLIM64_INFINITY" : String(value);
};

/** By the bits of the type, S_IFMT. */
const TYPES = new Map([
  [1, "S_IFIFO"],
  [2, "S_IFCHR"],
  [4, "S_IFDIR"],
  [6, "S_IFBLK"],
  [8, "S_IFREG"],
  [10, "S_IFLNK"],
  [12, "S_IFSOCK"],
]);

function modeText(mode: number): string {
  return `${TYPES.get((mode >> 12) & 15) ?? "0"}|0${(mode & 0o7777).toString(8)}`;
}

const rlimit: Fields = (bytes) => `{rlim_cur=${limit(bytes, 0)}, rlim_max=${limit(bytes, 8)}}`;

const STRUCTS: Readonly<Record<string, Fields>> = {
  int: (bytes) => `[${bytes.readInt32LE(0)}]`,
  u32: (bytes) => `[${bytes.readUInt32LE(0)}]`,
  u64: (bytes) => `[${bytes.readBigUInt64LE(0)}]`,
  uid_t: (bytes) => `[${bytes.readUInt32LE(0)}]`,
  loff_t: (bytes) => `[${long(bytes, 0)}]`,
  timespec: (bytes) => `{tv_sec=${long(bytes, 0)}, tv_nsec=${long(bytes, 8)}}`,
  timeval: (bytes) => `{tv_sec=${long(bytes, 0)}, tv_usec=${long(bytes, 8)}}`,
  rlimit,
  rlimit64: rlimit,
  stat: (bytes) => `{st_mode=${modeText(bytes.readUInt32LE(24))}, st_size=${long(bytes, 48)}, ...}`,
};

export function structText(name: string | undefined, hex: string): string {
  const fields = name === undefined ? undefined : STRUCTS[name];
  try {
    return fields?.(Buffer.from(hex, "hex")) ?? "{...}";
  } catch {
    // Fewer bytes than such a struct has: the program gave less.
    return "{...}";
  }
}
