/** The results of test/transparency/programs/arguments.c that differ under HERMES, each with its reason. */

interface Explained {
  /** The call with its arguments. */
  readonly call: RegExp;
  readonly bare: RegExp;
  readonly mediated: RegExp;
  readonly reason: string;
}

/** All differences that remain. docs/explanation/transparency.md has the reasons for users. */
export const EXPLAINED: readonly Explained[] = [
  {
    call: /^open/,
    bare: /^is .* flags [57]0[45]00\d/,
    mediated: /^is .* flags [13]0[45]00\d/,
    reason: "O_NOFOLLOW is missing in F_GETFL: the broker opens the pinned file by a magic link",
  },
  {
    call: /^openat2\(.*010\d+, /,
    bare: /./,
    mediated: /^ENOSYS/,
    reason: "a descriptor with O_PATH cannot be passed to another process",
  },
  {
    call: /^openat2\(.*, 0x20\}/,
    bare: /./,
    mediated: /^EAGAIN/,
    reason: "RESOLVE_CACHED may fail at any time, and always does",
  },
  {
    call: /^openat2\(.*0x(8|10|2)\}/,
    bare: /^(EISDIR|ELOOP|is )/,
    mediated: /^E(NOTDIR|NOENT|EXIST)/,
    reason:
      "under restrictions of the caller, the kernel resolves the folder and the last component separately",
  },
  {
    call: /^openat2\(.*, (NULL|bad), /,
    bare: /^E/,
    mediated: /^EFAULT/,
    reason: "a structure that cannot be read fails first",
  },
  {
    call: /^open.*"\.\/?",/,
    bare: /^EEXIST/,
    mediated: /^EISDIR/,
    reason: "a folder that is to be created: both errors say so",
  },
  {
    call: /^(rename|link).*(long name|long path)/,
    bare: /^E(BUSY|NOENT|XDEV|NOTDIR|FAULT|ACCES|BADF)/,
    mediated: /^E(NAMETOOLONG|FAULT|ACCES|NOENT|NOTDIR)/,
    reason: "of two paths with an error each, the one that is too long is found first",
  },
  {
    call: /^rename.*(closed|-1), ""/,
    bare: /^ENOENT/,
    mediated: /^EPERM/,
    reason: "an empty path could be any folder, also one of HERMES's own",
  },
  {
    call: /^(unlink|rmdir|unlinkat)\(.*\/proc\/self\/fd/,
    bare: /^E(PERM|NOTDIR)/,
    mediated: /^EACCES/,
    reason: "entries of /proc cannot be removed; the broker may not even try",
  },
  {
    call: /^(bind|connect|sendto|sendmsg|sendmmsg)\(.*(bad|edge|NULL)/,
    bare: /^E(INVAL|BADF|NOTSOCK)/,
    mediated: /^EFAULT/,
    reason: "an address that cannot be read fails first",
  },
  {
    call: /^(connect|sendto|sendmsg)\(/,
    bare: /^E(INVAL|DESTADDRREQ|PIPE)/,
    mediated: /^E(NOTSOCK|MSGSIZE|DESTADDRREQ|INVAL)/,
    reason: "a wrong socket or a wrong message beside a wrong address: another of the two errors",
  },
];
