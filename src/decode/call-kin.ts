import type { Address } from "../address.js";
import type { Kin } from "../event.js";
import { KIND, PIN_FOUND } from "../kernel/layout.js";
import type { DecodedCall } from "./call.js";
import { factsOf, type Processes, readPin } from "./reach.js";

/** Who belongs to the run, of those whom a call may reach. `pin` holds the file of the first address. */
export function kinOf(call: DecodedCall, { kin }: Processes, pin: Uint8Array): Kin {
  const { tid } = call;
  return {
    listensAt: (address) => reachesKin(call, kin, address, pin),
    hasProcess: (pid) => kin.hasProcess(pid),
    hasGroup: (group) => kin.hasGroup(group),
    processBehind: (fd) => kin.processBehind(tid, fd),
    hasShared: (table, by, number) => kin.hasShared(tid, table, by, number),
  };
}

/** Where a path leads nowhere, so does the call that is made in the program's place: the kernel says which error. */
function reachesKin(call: DecodedCall, kin: Processes["kin"], address: Address, pin: Uint8Array): boolean {
  if (address.family !== "unix" || address.abstract) return kin.listensAt(address, call.tid, undefined);
  if (address.path === "" || address !== call.addresses[0] || call.stop.kind === KIND.return) return false;
  const { state } = readPin(pin);
  return state === PIN_FOUND ? kin.listensAt(address, call.tid, factsOf(pin)) : !kin.isAttached;
}
