import type { Syscall } from "../abi/index.js";
import type { CallEvent } from "../nouns/event.js";
import type { ConstantTest } from "./policy.js";

/** The effects of system calls, in words for policies: a rule on `read` covers every way to read. */
export const EFFECTS = {
  read: "opens a file or folder to read it, or gives it another name under which it could be read",
  list: "opens a folder to list it, or lists it",
  stat: "asks about a file: attributes, access, link target, extended attributes",
  readlink: "asks where a symbolic link leads",
  getxattr: "reads or lists extended attributes",
  write: "changes a file, its name, its attributes or what is in a folder: all of the following",
  create: "makes a file, folder, link or device, or opens with O_CREAT",
  mkdir: "makes a folder",
  mknod: "makes a device, FIFO or socket file",
  delete: "removes a file or folder, moves it away, or replaces it by a rename",
  rename: "moves a file or folder",
  link: "makes a hard or symbolic link",
  symlink: "makes a symbolic link",
  truncate: "cuts a file, or changes what space it takes",
  chmod: "changes permission bits",
  chown: "changes owner or group",
  touch: "changes time stamps",
  xattr: "changes extended attributes or inode flags",
  fsetattr:
    "changes length, mode, owner, times or attributes of a file that is open already, by its descriptor",
  exec: "runs a program",
  load: "maps a file as code: libraries, plug-ins, programs started through the loader",
  connect: "chooses a peer: connect, and every send that carries an address",
  send: "sends on a socket",
  receive: "receives from a socket",
  bind: "takes a local address, or listens there",
  accept: "takes a connection",
  alias: "gives a program or a socket another name, under which a rule would not know it",
  mount: "changes what is mounted where, or the root directory",
  namespace: "makes or enters a namespace",
  fork: "makes a process (threads do not count)",
  signal: "sends a signal to another process",
  ptrace: "looks into, steers, limits or takes descriptors from another process",
  limit: "changes limits, priority or scheduling of another process",
  share: "uses System V shared memory, semaphores or queues, which any process of the user can reach",
  setuid: "changes users, groups or capabilities",
  settime: "sets a clock",
  chdir: "changes the working directory",
  monitor: "watches a file or folder for events",
  read_data: "takes data out of an open descriptor: read(2) and its kin",
  write_data: "puts data into an open descriptor: write(2) and its kin",
  sync: "forces data to the disk",
} as const satisfies Record<string, string>;

export type Effect = keyof typeof EFFECTS;

/**
 * What `default: deny` and `default: ask` cover. Other effects are harmless without these, or too frequent to
 * stop.
 */
export const DEFAULT_COVERS: readonly Effect[] = [
  "read",
  "write",
  "exec",
  "connect",
  "bind",
  "mount",
  "signal",
  "ptrace",
];

/** The object of an effect. */
export type On =
  | { readonly kind: "path"; readonly argument: string }
  | { readonly kind: "fd"; readonly argument: string }
  | { readonly kind: "address" }
  /** Some internet address that the call does not show: a route, a packet's own header. */
  | { readonly kind: "any-address" }
  /** The unknown destinations of packets that the program builds itself. */
  | { readonly kind: "packets" }
  /** The address that the call carries, else the one that the socket is connected to. */
  | { readonly kind: "peer" }
  | { readonly kind: "local" }
  /** The file that binding a socket to a path creates. */
  | { readonly kind: "socket-file" }
  /** The socket that a path leads to, as an address. */
  | { readonly kind: "socket-at"; readonly argument: string }
  /** The file that the memory at this address was mapped from. */
  | { readonly kind: "mapping"; readonly argument: string }
  /** Every process that a signal reaches. */
  | { readonly kind: "receivers" }
  /** A file that cannot be named before the call. */
  | { readonly kind: "unknown-file" }
  | { readonly kind: "nothing" };

export interface CallEffect {
  readonly call: Syscall;
  readonly does: readonly Effect[];
  readonly on: On;
  /** True when this call with these flags has the effect. Always when absent. */
  readonly holds?: (bits: number, event: CallEvent) => boolean;
  /** Only with these register arguments; always when absent. `holds` must agree. */
  readonly when?: readonly (readonly ConstantTest[])[];
  /** The effect covers everything below the path. */
  readonly subtree?: true;
}

export function isEffect(word: string): word is Effect {
  return Object.hasOwn(EFFECTS, word);
}
