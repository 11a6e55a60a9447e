import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SYSCALLS } from "../../src/abi/index.js";
import {
  ARGUMENTS,
  BUFFER_SIZE,
  EVENT_FIELD,
  FETCH_OFFSET,
  FETCH_SIZE,
  KIND,
  SLOT_SIZE,
} from "../../src/kernel/binding/layout.js";
import { Stop } from "../../src/kernel/binding/stop.js";
import { DecodedCall } from "../../src/kernel/decode/call.js";
import { ProcessTable } from "../../src/kernel/process/process-table.js";
import { CALL_EFFECTS } from "../../src/policy/call-effects.js";
import { callSubjects, effectSubjects, flagBits } from "../../src/policy/match/subject.js";
import { Random } from "../support/random.js";

/** Stops as no kernel would make them: decoding any content of the buffer ends, and throws nothing. */

let tracee: ChildProcess;
beforeAll(() => {
  tracee = spawn("sleep", ["1000"], { stdio: "ignore" });
});
afterAll(() => tracee.kill("SIGKILL"));

const EDGES = [
  0n,
  1n,
  2n,
  3n,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n - 100n,
];

function fill(memory: ArrayBuffer, nr: number, kind: number, random: Random): void {
  const view = new DataView(memory);
  view.setUint32(EVENT_FIELD.kind, kind, true);
  view.setUint32(EVENT_FIELD.door, 1 + random.below(2), true);
  view.setInt32(EVENT_FIELD.tid, random.below(4) === 0 ? random.below(70000) : tracee.pid!, true);
  view.setInt32(EVENT_FIELD.nr, nr, true);
  view.setBigInt64(EVENT_FIELD.result, random.pick(EDGES) - 2n ** 63n, true);
  for (let i = 0; i < ARGUMENTS; i++) {
    const value = random.pick([random.pick(EDGES), BigInt(random.below(2 ** 31)), BigInt(random.below(64))]);
    view.setBigUint64(EVENT_FIELD.args + i * 8, value, true);
  }
  view.setUint32(EVENT_FIELD.fetched, random.below(64), true);
  for (let i = 0; i < ARGUMENTS; i++) {
    const at = EVENT_FIELD.slots + i * SLOT_SIZE;
    view.setUint32(at, FETCH_OFFSET + random.below(FETCH_SIZE - 4096), true);
    view.setUint32(at + 4, random.below(300), true);
    view.setInt32(at + 8, random.below(6) === 0 ? 14 : 0, true);
    view.setUint32(at + 12, random.below(8) === 0 ? 1 : 0, true);
  }
  const bytes = new Uint8Array(memory, FETCH_OFFSET, 8192);
  for (let i = 0; i < 64; i++) bytes[random.below(bytes.length)] = random.below(256);
}

describe("the decoder", () => {
  it("makes something of every stop, with any arguments", () => {
    const random = new Random(2026);
    const memory = new ArrayBuffer(BUFFER_SIZE);
    const stop = new Stop(memory);
    const processes = new ProcessTable(false);
    for (const call of SYSCALLS)
      for (const kind of [KIND.entry, KIND.entry, KIND.return]) {
        fill(memory, call.nr, kind, random);
        stop.generation++;
        const event = new DecodedCall(stop, call, processes);
        const looked = () => [
          [event.path, event.requested, event.paths, event.fd?.target, event.fd?.kind, event.fd?.peer],
          [event.address, event.addresses, event.flags, event.argv, event.env, event.data],
          [event.process.exe, event.process.argv, event.process.cwd, event.errno, event.elapsed],
          Object.values({ ...event.args }),
          callSubjects(event),
          flagBits(call, event),
          CALL_EFFECTS.filter((deed) => deed.call === call).map((deed) => effectSubjects(deed, event)),
        ];
        expect(looked, `${call.name} ${event.argument(0)} ${event.argument(1)}`).not.toThrow();
      }
    processes.close();
  });

  it("gives the same answer for a copy that was taken", () => {
    const random = new Random(7);
    const memory = new ArrayBuffer(BUFFER_SIZE);
    const stop = new Stop(memory);
    const processes = new ProcessTable(false);
    for (const call of SYSCALLS.filter(({ classes }) => classes.includes("file"))) {
      fill(memory, call.nr, KIND.entry, random);
      stop.generation++;
      const event = new DecodedCall(stop, call, processes);
      const kept = new DecodedCall(stop, call, processes).detach();
      const before = [event.requested, event.argument(0), event.tid];
      new Uint8Array(memory).fill(0x2f);
      expect([kept.requested, kept.argument(0), kept.tid]).toEqual(before);
    }
    processes.close();
  });
});
