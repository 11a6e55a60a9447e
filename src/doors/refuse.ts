import { errnoNumber, signalNumber } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import { ANSWER } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";
import { encodeText } from "../text.js";
import type { Emulation, Verdict } from "../verdict.js";
import { NotPossible } from "./door.js";

/** The parts of a verdict that every door carries out alike: none of them lets the call happen. */

const EACCES = 13;

export function errnoOf(errno: string | number | undefined): number {
  if (errno === undefined) return EACCES;
  const number = typeof errno === "number" ? errno : errnoNumber(errno);
  if (number === undefined || !Number.isInteger(number) || number < 1 || number > 4095)
    throw new NotPossible(`"${errno}" is not an errno`);
  return number;
}

export function signalOf(signal: string | number): number {
  const number = typeof signal === "number" ? signal : signalNumber(signal);
  if (number === undefined || number < 1 || number > 64) throw new NotPossible(`"${signal}" is not a signal`);
  return number;
}

export function refuse(answer: Answer, verdict: Verdict): void {
  answer.begin(ANSWER.return).result(-errnoOf(verdict.errno));
}

export function toBytes(value: string | Uint8Array): Uint8Array {
  return typeof value === "string" ? encodeText(value) : value;
}

/** Index of an argument by name or number. */
export function argumentIndex(event: DecodedCall, key: string | number): number {
  const index = /^\d+$/.test(String(key)) ? Number(key) : event.call.args.findIndex((a) => a.name === key);
  if (index < 0 || index > 5) throw new NotPossible(`${event.name} has no argument "${key}"`);
  return index;
}

/** Only functions return texts. */
export function resultOf(result: Emulation["result"]): number | bigint {
  if (typeof result === "number" || typeof result === "bigint") return result;
  throw new NotPossible("it gives a number, not a text");
}

/** Puts out bytes where the program expects them and returns a value in the kernel's place. */
export function emulate(event: DecodedCall, emulation: Emulation, answer: Answer): void {
  answer.begin(ANSWER.return).result(resultOf(emulation.result));
  const outputs: [number, Uint8Array][] = Object.entries(emulation.outputs ?? {}).map(([key, value]) => [
    argumentIndex(event, key),
    toBytes(value),
  ]);
  if (emulation.data !== undefined) {
    if (event.shape.outData < 0) throw new NotPossible(`${event.name} has no out buffer for data`);
    outputs.push([event.shape.outData, toBytes(emulation.data)]);
  }
  for (const [index, bytes] of outputs) putOut(event, index, bytes, answer);
  for (const { address, bytes } of emulation.memory ?? []) answer.memory(address, bytes);
}

/** Never more than the program made room for. */
function putOut(event: DecodedCall, index: number, bytes: Uint8Array, answer: Answer): void {
  const argument = event.call.args[index];
  if (!argument || (argument.direction !== "out" && argument.direction !== "inout"))
    throw new NotPossible(`argument ${argument?.name ?? index} of ${event.name} is not an out argument`);
  let rest = bytes;
  for (const piece of event.room(index)) {
    const part = rest.subarray(0, piece.length);
    if (part.length > 0) answer.memory(piece.address, part);
    rest = rest.subarray(part.length);
  }
  if (rest.length > 0)
    throw new NotPossible(`${bytes.length} bytes do not fit into ${argument.name} of ${event.name}`);
}
