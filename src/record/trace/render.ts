import { type Argument, formatFlags, type Syscall, signalName } from "../../abi/index.js";
import { MAX_SYSCALL } from "../../kernel/binding/layout.js";
import type { DecodedCall } from "../../kernel/decode/call.js";
import { formatAddress } from "../../nouns/address.js";
import { decodeText } from "../../nouns/text.js";
import type { Rendered } from "./records.js";

const AT_FDCWD = -100;
const MAX_STRUCT = 64;

type Render = (event: DecodedCall, i: number, limit: number) => Rendered;

interface Step {
  readonly name: string;
  readonly i: number;
  readonly render: Render;
}

/** How the arguments of one call are rendered: worked out once, since it is done for every event. */
interface Plan {
  readonly ins: readonly Step[];
  readonly outs: readonly Step[];
  /** All of them, without what they point at. */
  readonly registers: readonly Step[];
}

const plans = new Map<number, Plan>();

function planOf(call: Syscall): Plan {
  const known = plans.get(call.nr);
  if (known) return known;
  // Names that were parsed from a text are looked up each time they serve as a key; an object's own keys are not.
  const names = Object.keys(Object.fromEntries(call.args.map((argument) => [argument.name, true])));
  const steps = call.args.map((argument, i) => ({
    name: names[i]!,
    i,
    render: renderOf(argument),
    argument,
  }));
  const isOut = ({ direction }: Argument) => direction === "out" || direction === "inout";
  const plan = {
    ins: steps.filter(({ argument }) => !isOut(argument)),
    outs: steps.filter(({ argument }) => isOut(argument) && argument.kind !== "address"),
    registers: steps.map((step) =>
      POINTERS.has(step.argument.kind) ? { ...step, render: renderPointer } : step,
    ),
  };
  // Calls without a row in the table have any number that a program likes.
  if (call.nr >= 0 && call.nr < MAX_SYSCALL) plans.set(call.nr, plan);
  return plan;
}

/** The arguments of a call as they go into a trace: names for numbers, text for pointers, lengths kept. */
export function renderArguments(event: DecodedCall, limit: number): Record<string, Rendered> {
  const rendered: Record<string, Rendered> = {};
  for (const { name, i, render } of planOf(event.call).ins) rendered[name] = render(event, i, limit);
  return rendered;
}

/** Adds what the call put out, once it has returned. */
export function renderOutputs(event: DecodedCall, limit: number, rendered: Record<string, Rendered>): void {
  if (event.result < 0) return;
  for (const { name, i, render } of planOf(event.call).outs) rendered[name] = render(event, i, limit);
}

/** The arguments of a call that is over: what a pointer led to may be another thing by now, so only the pointer counts. */
export function renderRegisters(event: DecodedCall): Record<string, Rendered> {
  const rendered: Record<string, Rendered> = {};
  for (const { name, i, render } of planOf(event.call).registers) rendered[name] = render(event, i, 0);
  return rendered;
}

const POINTERS: ReadonlySet<Argument["kind"]> = new Set([
  "path",
  "string",
  "argv",
  "fds",
  "sockaddr",
  "buffer",
  "iovec",
  "msghdr",
  "mmsghdr",
  "struct",
]);

const renderPointer: Render = ({ stop }, i) => (stop.isNull(i) ? null : hex(stop.exact(i)));

const hex = (value: number | bigint) => `0x${value.toString(16)}`;

function renderOf(argument: Argument): Render {
  switch (argument.kind) {
    case "fd":
    case "pid":
      return ({ stop }, i) => stop.int(i);
    case "dirfd":
      return ({ stop }, i) => (stop.int(i) === AT_FDCWD ? "AT_FDCWD" : stop.int(i));
    case "flags":
      return renderFlags(argument);
    case "mode":
      return ({ stop }, i) => `0${stop.uint(i).toString(8)}`;
    case "signal":
      return ({ stop }, i) => signalName(stop.int(i)) ?? stop.int(i);
    case "address":
      return ({ stop }, i) => hex(stop.exact(i));
    case "sockaddr":
      return ({ address }) => (address ? formatAddress(address) : null);
    case "argv":
      return (event, i) => (i === event.shape.env ? event.env?.length : event.argv) ?? null;
    case "fds":
      return (event, i) => String(event.value(i));
    case "buffer":
    case "iovec":
    case "msghdr":
    case "mmsghdr":
      return renderBytes;
    case "struct":
      return renderStruct;
    default:
      return renderValue;
  }
}

/** Few values occur, and a name costs far more to make than to look up. A hostile program must not fill the memory. */
const MAX_NAMED = 4096;

function renderFlags({ flags, width }: Argument): Render {
  if (flags === undefined) return ({ stop }, i) => hex(stop.exact(i));
  const named = new Map<number, string>();
  return ({ stop }, i) => {
    const value = width === 32 ? stop.uint(i) : stop.ulong(i);
    const known = named.get(value);
    if (known !== undefined) return known;
    const name = formatFlags(flags, width === 32 ? value : stop.exact(i));
    if (named.size < MAX_NAMED && Number.isSafeInteger(value)) named.set(value, name);
    return name;
  };
}

function renderStruct(event: DecodedCall, i: number): Rendered {
  const bytes = event.stop.isNull(i) ? undefined : (event.value(i) as Uint8Array | undefined);
  return bytes ? Buffer.from(bytes).toString("hex", 0, MAX_STRUCT) : null;
}

function renderValue(event: DecodedCall, i: number): Rendered {
  const value = event.value(i) as string | number | bigint | undefined;
  return typeof value === "bigint" ? hex(value) : (value ?? null);
}

function renderBytes(event: DecodedCall, i: number, limit: number): Rendered {
  const pieces = event.filledPieces(i);
  if (!pieces) return null;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const bytes = event.readPieces(pieces, limit);
  if (!bytes) return null;
  return bytes.length === length ? decodeText(bytes) : { start: decodeText(bytes), length };
}
