import type { Address } from "../../nouns/address.js";
import type { Kin } from "../../nouns/event.js";
import { KIND, PIN_FOUND } from "../binding/layout.js";
import { pinFacts } from "../binding/pin-facts.js";
import type { DecodedCall } from "./call.js";
import { type ProcessLookup, readPin } from "./reach-path.js";

/** Decides which targets of a call belong to the run. `pin` holds the file of the first address. */
export function kinOf(call: DecodedCall, { kin }: ProcessLookup, pin: Uint8Array): Kin {
  const { tid } = call;
  return {
    listensAt: (address) => reachesKin(call, kin, address, pin),
    hasProcess: (pid) => kin.hasProcess(pid),
    hasGroup: (group) => kin.hasGroup(group),
    processBehind: (fd) => kin.processBehind(tid, fd),
    hasShared: (table, by, number) => kin.hasShared(tid, table, by, number),
  };
}

/** If a path does not resolve, the on-behalf call fails too, and the kernel reports the error. */
function reachesKin(
  call: DecodedCall,
  kin: ProcessLookup["kin"],
  address: Address,
  pin: Uint8Array,
): boolean {
  if (address.family !== "unix" || address.abstract) return kin.listensAt(address, call.tid, undefined);
  if (address.path === "" || address !== call.addresses[0] || call.stop.kind === KIND.return) return false;
  const { state } = readPin(pin);
  return state === PIN_FOUND ? kin.listensAt(address, call.tid, pinFacts(pin)) : !kin.isAttached;
}
