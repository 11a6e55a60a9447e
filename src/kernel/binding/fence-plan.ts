/**
 * The fence that the launcher puts around the program (struct plan_fence of native/protocol/plan.h), and the
 * launcher's report on it.
 */
export interface FencePlan {
  /** Bits 1 << protection. */
  readonly wanted: number;
  readonly required: number;
  readonly mounts: readonly MountStep[];
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
} as const;

export interface MountStep {
  readonly kind: keyof typeof MOUNT;
  readonly path: string;
  readonly data?: string;
  /** Skip the step when the path does not exist. */
  readonly ifThere?: boolean;
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
  inForce: 64,
  errnos: 68,
} as const;
export const FENCE_SIZE = 136;
const MOUNT_IF_THERE = 1;

/** Appends bytes, or text with its NUL, to the plan and returns their offset. */
interface Placer {
  bytes(bytes: Uint8Array): number;
  text(text: string): number;
}

/** Encodes the struct. Everything that it points at goes where `put` puts it. */
export function encodeFence(fence: FencePlan, put: Placer): Uint8Array {
  const mounts = fence.mounts.flatMap(({ kind, path, data, ifThere }) => [
    MOUNT[kind],
    ifThere ? MOUNT_IF_THERE : 0,
    put.text(path),
    data === undefined ? 0 : put.text(data),
  ]);
  const words: Record<string, number> = {
    wanted: fence.wanted,
    required: fence.required,
    mountCount: fence.mounts.length,
    mounts: put.bytes(new Uint8Array(Uint32Array.from(mounts).buffer)),
    pathRuleCount: fence.pathRules.length,
    pathRules: put.bytes(rules(fence.pathRules.map((rule) => ({ ...rule, at: put.text(rule.path) })))),
    portRuleCount: fence.portRules.length,
    portRules: put.bytes(rules(fence.portRules)),
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
