import { constants } from "node:os";
import * as z from "zod";
import type { RuntimeCheckOptions } from "../../../intent/runtime-check/options.js";
import { ANSWERS } from "../../../people/approval/answer.js";
import type { DecidedCall } from "../../../record/audit/decided-call.js";

/** Increase with every change in this file. */
export const REMOTE_PROTOCOL = 1;

/** Milliseconds: the near end's heartbeat interval, and how long the far end waits for a heartbeat. */
export const HEARTBEAT = 10_000;
export const SILENCE = 60_000;

const object = <T>() => z.custom<T>((value) => typeof value === "object" && value !== null);

const order = z.strictObject({
  argv: z.array(z.string()).min(1),
  cwd: z.string().startsWith("/"),
  env: z.record(z.string(), z.string()),
  timeout: z.number().positive(),
  stdin: z.literal("pipe").exactOptional(),
  terminal: z.strictObject({ columns: z.int().positive(), rows: z.int().positive() }).exactOptional(),
  deed: object<RuntimeCheckOptions>(),
  credentialFiles: z
    .array(z.strictObject({ relative: z.string(), path: z.string(), readOnly: z.literal(true) }))
    .exactOptional(),
  patience: z.number().min(0).exactOptional(),
});

/** Properties that the container should have, checked from inside. */
const surroundings = z.strictObject({
  readOnly: z.boolean(),
  network: z.enum(["bridge", "none"]),
  memory: z.number().exactOptional(),
  pids: z.number().exactOptional(),
  cpuShares: z.number().exactOptional(),
});
export type RemoteHost = z.infer<typeof surroundings>;

/** From the near end. Bytes are in the frame's body. */
const toFar = z.discriminatedUnion("type", [
  /** The contents of a credential file. Sent before `start`. */
  z.strictObject({ type: z.literal("credential"), relative: z.string() }),
  z.strictObject({
    type: z.literal("start"),
    order,
    /** `theirs`: the runtime check uses the home of the user who runs the command on the far side. */
    home: z.enum(["ours", "theirs"]),
    surroundings: surroundings.exactOptional(),
  }),
  z.strictObject({ type: z.literal("stdin") }),
  z.strictObject({ type: z.literal("close-stdin") }),
  z.strictObject({ type: z.literal("resize"), columns: z.int().positive(), rows: z.int().positive() }),
  z.strictObject({
    type: z.literal("signal"),
    name: z.enum(Object.keys(constants.signals) as [NodeJS.Signals, ...NodeJS.Signals[]]),
  }),
  z.strictObject({ type: z.literal("kill") }),
  z.strictObject({
    type: z.literal("answer"),
    id: z.int(),
    answer: z.enum(ANSWERS),
    why: z.string().exactOptional(),
    kept: z.literal(true).exactOptional(),
  }),
  z.strictObject({ type: z.literal("alive") }),
]);

const reason = z.strictObject({ name: z.string(), why: z.string() });
const result = z.strictObject({
  exitCode: z.int(),
  signal: z.string().exactOptional(),
  timedOut: z.boolean(),
  leftBehind: z.boolean().exactOptional(),
  refusals: z.array(
    z.strictObject({
      what: z.string(),
      call: z.string(),
      about: object<DecidedCall>().exactOptional(),
      reason: z.string(),
      rule: z.string(),
      policy: z.string(),
      version: z.string(),
      times: z.int(),
    }),
  ),
  policies: z.array(z.strictObject({ name: z.string(), version: z.string() })),
  inForce: z.array(z.string()),
  missing: z.array(reason),
});

const question = z.strictObject({
  id: z.int(),
  call: z.string(),
  what: z.string(),
  subject: z.strictObject({
    path: z.string().exactOptional(),
    address: z.string().exactOptional(),
    argv: z.array(z.string()).exactOptional(),
  }),
  cwd: z.string().exactOptional(),
  who: z.array(z.strictObject({ pid: z.int(), argv: z.array(z.string()) })),
  policy: z.string(),
  rule: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  patience: z.number(),
});

/** From the far end. */
const toNear = z.discriminatedUnion("type", [
  /** The first message: both ends must have the same version, because orders have no compatible format. */
  z.strictObject({ type: z.literal("hello"), protocol: z.int(), version: z.string() }),
  z.strictObject({ type: z.literal("started"), pid: z.int() }),
  z.strictObject({ type: z.literal("stdout") }),
  z.strictObject({ type: z.literal("stderr") }),
  z.strictObject({ type: z.literal("question"), question }),
  z.strictObject({ type: z.literal("withdrawn"), id: z.int(), why: z.string() }),
  z.strictObject({ type: z.literal("problem"), text: z.string() }),
  z.strictObject({ type: z.literal("result"), result }),
  /** The run could not be started or cannot continue: a HermesError. */
  z.strictObject({ type: z.literal("failed"), code: z.string(), message: z.string() }),
]);

export type ToFar = z.infer<typeof toFar>;
export type ToNear = z.infer<typeof toNear>;

export function readToFar(head: unknown): ToFar {
  return checked(toFar, head);
}

export function readToNear(head: unknown): ToNear {
  return checked(toNear, head);
}

function checked<T>(schema: z.ZodType<T>, head: unknown): T {
  const { success, data, error } = schema.safeParse(head);
  if (!success) throw new Error(`an invalid message: ${error.issues[0]?.message}`);
  return data;
}
