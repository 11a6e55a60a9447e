import { iced } from "./iced.js";

/** Which of these offsets, in order, begin an instruction of code that begins with one: data among code may put it off. */
export function onBoundaries(code: Uint8Array, offsets: readonly number[]): number[] {
  const { Decoder, DecoderOptions, Instruction } = iced();
  const found: number[] = [];
  let next = 0;
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  while (next < offsets.length && decoder.canDecode) {
    const at = decoder.position;
    while (next < offsets.length && offsets[next]! < at) next++;
    if (offsets[next] === at) found.push(at);
    decoder.decodeOut(instruction);
  }
  instruction.free();
  decoder.free();
  return found;
}

/** Where these bytes are, `undefined` standing for any; the first one must be given. */
export function findBytes(code: Uint8Array, bytes: readonly (number | undefined)[]): number[] {
  const buffer = Buffer.from(code.buffer, code.byteOffset, code.length);
  const given = bytes.indexOf(undefined);
  const head = Buffer.from(bytes.slice(0, given < 0 ? bytes.length : given) as number[]);
  const found: number[] = [];
  for (let at = buffer.indexOf(head); at >= 0; at = buffer.indexOf(head, at + 1))
    if (bytes.every((byte, i) => byte === undefined || buffer[at + i] === byte)) found.push(at);
  return found;
}
