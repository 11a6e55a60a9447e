import { hostname, machine, release, type, version } from "node:os";

/** Kernel structs that policies often emulate. */

const FIELD = 65; // __NEW_UTS_LEN + 1

interface Utsname {
  readonly sysname: string;
  readonly nodename: string;
  readonly release: string;
  readonly version: string;
  readonly machine: string;
  readonly domainname: string;
}

/** A struct new_utsname for emulate(0, …) of uname: this machine's values, with the given fields replaced. */
export function utsname(fields: Partial<Utsname> = {}): Uint8Array {
  const own: Utsname = {
    sysname: type(),
    nodename: hostname(),
    release: release(),
    version: version(),
    machine: machine(),
    domainname: "(none)",
  };
  const names = Object.keys(own) as (keyof Utsname)[];
  const bytes = Buffer.alloc(FIELD * names.length);
  for (const [i, name] of names.entries())
    bytes.write((fields[name] ?? own[name]).slice(0, FIELD - 1), i * FIELD);
  return bytes;
}
