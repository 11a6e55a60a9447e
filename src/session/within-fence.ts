import type { DecodedCall } from "../decode/call.js";
import { hasAct } from "../doors/act.js";
import type { Mirror } from "../fence/mirror.js";
import type { Place } from "../fence/place.js";
import { native } from "../kernel/native.js";
import { isBelow } from "../process/proc.js";
import { type Decision, deny } from "../verdict.js";

const EPERM = 1;
const STREAM = 1;
const CREAT_FLAGS = 0o1101; // O_CREAT | O_WRONLY | O_TRUNC
/** Where calls have what kind of file they make, or how long they make it. */
const MODE_AT: Readonly<Record<string, number>> = { mknod: 1, mknodat: 2, truncate: 1 };

/** What we do in the program's place must not go further than the fence lets the program go. */
export function withinFence(event: DecodedCall, decision: Decision, mirror: Mirror | undefined): Decision {
  const { action, change } = decision;
  // What a policy leads elsewhere goes where the policy says.
  const happens =
    action === "allow" ||
    action === "fault" ||
    action === "ask" ||
    (action === "modify" && change?.to === undefined);
  if (!mirror || !happens || !event.looked || !hasAct(event.call)) return decision;
  const errno = refusalOfFence(mirror, event);
  if (errno === 0) return decision;
  return { ...deny("it lies beyond the fence", errno), rule: "fence", policy: "hermes", version: "" };
}

/** The errno by which the fence refuses a call that we would make in the program's place, or 0. */
function refusalOfFence(mirror: Mirror, event: DecodedCall): number {
  const { name, tid } = event;
  const signalled = name === "pidfd_send_signal" ? (event.fd?.process ?? 0) : 0;
  if (signalled > 0 && !isBelow(signalled, process.pid)) return EPERM;
  const flags = event.call.name === "creat" ? CREAT_FLAGS : event.flagBits();
  if (event.names.length > 0)
    return mirror.forbidsAddress({
      name,
      tid,
      flags,
      addresses: event.addresses,
      names: event.names,
      isStream: () => {
        event.noStream = native().socketType(tid, event.stop.int(0)) !== STREAM;
        return !event.noStream;
      },
      place: () => placesOf(event)[0],
    });
  const at = MODE_AT[name];
  const mode = at === undefined ? 0 : name === "truncate" ? event.stop.long(at) : event.stop.int(at);
  return mirror.forbidsFiles({ name, tid, flags, mode, places: placesOf(event) });
}

function placesOf(event: DecodedCall): Place[] {
  return event.held.map(({ path, object, parent, error, slash }) => ({
    path,
    error,
    slash,
    object: object < 0 ? undefined : object,
    parent: parent < 0 ? undefined : parent,
  }));
}
