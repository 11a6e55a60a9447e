import type { DecodedCall } from "../decode/call.js";
import type { Mirror } from "../fence/mirror.js";
import type { Place } from "../fence/place.js";
import { native } from "../kernel/native.js";

const STREAM = 1;
const CREAT_FLAGS = 0o1101; // O_CREAT | O_WRONLY | O_TRUNC
/** Where calls have what kind of file they make, or how long they make it. */
const MODE_AT: Readonly<Record<string, number>> = { mknod: 1, mknodat: 2, truncate: 1 };

/** The errno by which the fence refuses a call that we would make in the program's place, or 0. */
export function refusalOfFence(mirror: Mirror, event: DecodedCall): number {
  const { name, tid } = event;
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
