/**
 * The fence that the launcher puts around the program (struct plan_fence of native/protocol/plan.h), and the
 * launcher's report on it.
 */
export interface FencePlan {
  /** Bits 1 << protection. */
  readonly wanted: number;
  readonly required: number;
  readonly mounts: readonly (MountStep | MountChange)[];
  /** Files that the program does not find. */
  readonly masks: readonly Mask[];
  readonly pathRules: readonly PathRule[];
  readonly portRules: readonly PortRule[];
  /** cgroup.procs files that the program joins. */
  readonly cgroups: readonly string[];
  readonly handledFiles: bigint;
  readonly handledPorts: bigint;
  readonly scopes: bigint;
}

/** enum mount_kind */
export const MOUNT = {
  readOnly: 0,
  seal: 1,
  expose: 2,
  exposeReadOnly: 3,
  tmpfs: 4,
  proc: 5,
  devpts: 6,
  mqueue: 7,
  link: 8,
  hide: 9,
  protect: 10,
  pin: 11,
  noDevices: 12,
} as const;

/** enum mount_change */
const MOUNT_CHANGE = { open: 0, shut: 1 } as const;

/** Of a running program: a folder becomes writable, or one that was writable becomes read-only. */
export interface MountChange {
  readonly kind: keyof typeof MOUNT_CHANGE;
  readonly path: string;
}

export interface MountStep {
  readonly kind: keyof typeof MOUNT;
  readonly path: string;
  readonly data?: string;
  /** Skip the step when the path does not exist. */
  readonly ifThere?: boolean;
}

/** enum mask_order */
const MASK_ORDER = { put: 0, take: 1, look: 2 } as const;

/** A file or folder that is covered, or a file in a covered folder (struct plan_mask). */
export interface Mask {
  readonly order?: keyof typeof MASK_ORDER;
  /** In a folder: below it. */
  readonly path: string;
  /** The text of the link that covers a file; a folder has none. */
  readonly target?: string;
  /** The index of the mask of its folder. */
  readonly folder?: number;
}

export interface PathRule {
  readonly path: string;
  readonly access: bigint;
  /** Apply only when these protections are in force: bits 1 << protection. */
  readonly needs?: number;
}

interface PortRule {
  readonly port: number;
  readonly access: bigint;
}

export const NO_FENCE: FencePlan = {
  wanted: 0,
  required: 0,
  mounts: [],
  masks: [],
  pathRules: [],
  portRules: [],
  cgroups: [],
  handledFiles: 0n,
  handledPorts: 0n,
  scopes: 0n,
};

/** Offsets in struct plan_fence. */
export const FENCE_FIELD = {
  wanted: 0,
  required: 4,
  mountCount: 8,
  mounts: 12,
  pathRuleCount: 16,
  pathRules: 20,
  portRuleCount: 24,
  portRules: 28,
  cgroupCount: 32,
  cgroups: 36,
  handledFiles: 40,
  handledPorts: 48,
  scopes: 56,
  maskCount: 64,
  masks: 68,
  masksSeen: 72,
  inForce: 80,
  errnos: 84,
} as const;
export const FENCE_SIZE = 152;
const MOUNT_IF_THERE = 1;

/** Appends bytes, or text with its NUL, to the plan and returns their offset. */
interface Placer {
  bytes(bytes: Uint8Array): number;
  text(text: string): number;
}

/** Encodes the struct. Everything that it points at goes where `put` puts it. */
export function encodeFence(fence: FencePlan, put: Placer): Uint8Array {
  const mounts = fence.mounts.flatMap((step) => mountWords(step, put));
  const words: Record<string, number> = {
    wanted: fence.wanted,
    required: fence.required,
    mountCount: fence.mounts.length,
    mounts: put.bytes(new Uint8Array(Uint32Array.from(mounts).buffer)),
    pathRuleCount: fence.pathRules.length,
    pathRules: put.bytes(rules(fence.pathRules.map((rule) => ({ ...rule, at: put.text(rule.path) })))),
    portRuleCount: fence.portRules.length,
    portRules: put.bytes(rules(fence.portRules)),
    maskCount: fence.masks.length,
    masks: put.bytes(
      new Uint8Array(Uint32Array.from(fence.masks.flatMap((mask) => maskWords(mask, put))).buffer),
    ),
    masksSeen: put.bytes(new Uint8Array(fence.masks.length)),
    cgroupCount: fence.cgroups.length,
    cgroups: put.bytes(new Uint8Array(Uint32Array.from(fence.cgroups.map(put.text)).buffer)),
  };
  const encoded = Buffer.alloc(FENCE_SIZE);
  for (const [name, value] of Object.entries(words))
    encoded.writeUInt32LE(value, FENCE_FIELD[name as keyof typeof FENCE_FIELD]);
  encoded.writeBigUInt64LE(fence.handledFiles, FENCE_FIELD.handledFiles);
  encoded.writeBigUInt64LE(fence.handledPorts, FENCE_FIELD.handledPorts);
  encoded.writeBigUInt64LE(fence.scopes, FENCE_FIELD.scopes);
  return encoded;
}

function isChange(step: MountStep | MountChange): step is MountChange {
  return Object.hasOwn(MOUNT_CHANGE, step.kind);
}

function mountWords(step: MountStep | MountChange, put: Placer): number[] {
  const path = put.text(step.path);
  if (isChange(step)) return [MOUNT_CHANGE[step.kind], 0, path, 0];
  const { kind, data, ifThere } = step;
  return [MOUNT[kind], ifThere ? MOUNT_IF_THERE : 0, path, data === undefined ? 0 : put.text(data)];
}

function maskWords({ order = "put", path, target, folder }: Mask, put: Placer): number[] {
  return [
    MASK_ORDER[order],
    put.text(path),
    target === undefined ? 0 : put.text(target),
    folder === undefined ? 0 : folder + 1,
  ];
}

function rules(list: readonly { access: bigint; at?: number; port?: number; needs?: number }[]): Uint8Array {
  const encoded = Buffer.alloc(list.length * 16);
  for (const [i, { access, at = 0, port = 0, needs = 0 }] of list.entries()) {
    encoded.writeBigUInt64LE(access, i * 16);
    encoded.writeUInt32LE(at, i * 16 + 8);
    encoded.writeUInt16LE(port, i * 16 + 12);
    encoded.writeUInt16LE(needs, i * 16 + 14);
  }
  return encoded;
}

/** The launcher's report on the fence: native().fence(). */
export interface FenceOutcome {
  readonly inForce: number;
  /** The object of the failed step: a path's offset or a protection's number. */
  readonly detail: number;
  /** By protection; 0 where nothing failed. */
  readonly errnos: readonly number[];
}

export function decodeFence(bytes: Buffer): FenceOutcome {
  const words = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32LE(i * 4));
  const [inForce = 0, detail = 0, ...errnos] = words;
  return { inForce, detail, errnos };
}
