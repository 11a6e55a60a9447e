import { errnoNumber, signalNumber } from "../../abi/index.js";
import { errnoValue } from "../../abi/named.js";
import { encodeText } from "../../nouns/text.js";
import type { Emulation, Verdict } from "../../nouns/verdict.js";
import { ANSWER } from "../binding/layout.js";
import type { StopAnswer } from "../binding/stop.js";
import type { DecodedCall } from "../decode/call.js";
import { NotPossible } from "./door.js";

/** The parts of a verdict that every door carries out alike. None of them lets the call happen. */

const EACCES = errnoValue("EACCES");

export function toErrno(errno: string | number | undefined): number {
  if (errno === undefined) return EACCES;
  const number = typeof errno === "number" ? errno : errnoNumber(errno);
  if (number === undefined || !Number.isInteger(number) || number < 1 || number > 4095)
    throw new NotPossible(`"${errno}" is not an errno`);
  return number;
}

export function toSignal(signal: string | number): number {
  const number = typeof signal === "number" ? signal : signalNumber(signal);
  if (number === undefined || number < 1 || number > 64) throw new NotPossible(`"${signal}" is not a signal`);
  return number;
}

export function refuse(answer: StopAnswer, verdict: Verdict): void {
  answer.begin(ANSWER.return).result(-toErrno(verdict.errno));
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

/** Only functions return text. */
export function resultOf(result: Emulation["result"]): number | bigint {
  if (typeof result === "number" || typeof result === "bigint") return result;
  throw new NotPossible("a system call returns a number, not text");
}

/** Writes the output bytes to the program's memory and returns the result in place of the kernel. */
export function writeEmulation(event: DecodedCall, emulation: Emulation, answer: StopAnswer): void {
  answer.begin(ANSWER.return).result(emulation.perform?.() ?? resultOf(emulation.result));
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

/** Never writes more than the program made room for. */
function putOut(event: DecodedCall, index: number, bytes: Uint8Array, answer: StopAnswer): void {
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
    throw new NotPossible(`${bytes.length} bytes do not fit into argument ${argument.name} of ${event.name}`);
}
