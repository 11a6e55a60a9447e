import { once } from "../../nouns/once.js";

const table = once(() =>
  Uint32Array.from({ length: 256 }, (_, i) => {
    let value = i;
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ 0xedb88320;
    return value;
  }),
);

/** The CRC that zip, xz and .gnu_debuglink use; zlib's own is only in Node 22. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const rows = table();
  let crc = ~before;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ rows[(crc ^ bytes[i]!) & 0xff]!;
  return ~crc >>> 0;
}
