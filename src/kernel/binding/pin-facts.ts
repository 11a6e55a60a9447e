import { native } from "./native.js";

/** Facts about a pinned file (struct pin_facts). */
interface PinFacts {
  readonly device: bigint;
  readonly inode: bigint;
  /** Milliseconds since 1970, 0 when unknown. */
  readonly born: number;
  readonly mount: bigint;
  /** The kernel's own inode number: stat(2) may report another one (btrfs, overlays). */
  readonly inodeInside: bigint;
  /** How many names it has. */
  readonly links: bigint;
}

const ITSELF = -1;

export function pinFacts(pin: Uint8Array, levels = ITSELF): PinFacts | undefined {
  const words = new BigUint64Array(6);
  if (native().statPin(pin, levels, new Uint8Array(words.buffer)) < 0) return undefined;
  const [device, inode, , mount, inodeInside, links] = words as unknown as bigint[];
  return {
    device: device!,
    inode: inode!,
    born: new Float64Array(words.buffer)[2]!,
    mount: mount!,
    inodeInside: inodeInside!,
    links: links!,
  };
}

/**
 * True for memory of the program that is a file without a name (memfd_create(2)). A file may have such a path too, but
 * then it has a name.
 */
export function isMemory(path: string, pin: Uint8Array): boolean {
  return path.startsWith("/memfd:") && pinFacts(pin)?.links === 0n;
}
