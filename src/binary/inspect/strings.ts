import { SECRET_FORMATS } from "../../intent/guard/credentials/formats.js";
import { type Elf, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS } from "../elf/index.js";

/** Text in a file that says something about what it does. */
export interface Text {
  readonly kind: "url" | "path" | "address" | "key";
  readonly text: string;
  /** Of a key: whose. */
  readonly what?: string;
  /** Where in the file. */
  readonly offset: number;
  readonly section?: string;
}

const SHORTEST = 6;
const LONGEST = 4096;
const MOST = 5000;
const PIECE = 1 << 22;

/** Text in the parts of a file that hold data; names of symbols and debug information are not its own. */
export function textsOf(elf: Elf, progress: (share: number) => void = () => {}): Text[] {
  const found = new Map<string, Text>();
  let left = 2 * elf.size; // parts of a broken file may lie over each other
  for (const [i, { offset, size, name }] of dataParts(elf).entries()) {
    progress(Math.min(1, i / 8));
    left -= size;
    if (left < 0) break;
    for (let at = 0; at < size; at += PIECE) {
      // A little more than a piece, so that text across its end is found whole; twice is known as once.
      const bytes = elf.raw(offset + at, Math.min(PIECE + LONGEST, size - at));
      scan(bytes, (from, to) => look(bytes, from, to, offset + at, name, found));
    }
  }
  return [...found.values()].sort((a, b) => a.offset - b.offset);
}

function dataParts(elf: Elf): { offset: number; size: number; name: string }[] {
  const sections = elf.sections.filter(
    ({ flags, type, name }) =>
      (flags & SHF_ALLOC) !== 0 &&
      (flags & SHF_EXECINSTR) === 0 &&
      type !== SHT_NOBITS &&
      !/^\.(?:dynstr|dynsym|gnu\.|rela|eh_frame|gcc_except|interp|hash|note)/.test(name),
  );
  if (sections.length > 0) return sections;
  return elf.segments
    .filter(({ type }) => type === "load")
    .map(({ offset, fileSize }) => ({ offset, size: fileSize, name: "" }));
}

/** Runs of printable ASCII. */
function scan(bytes: Uint8Array, take: (from: number, to: number) => void): void {
  let from = 0;
  for (let i = 0; i <= bytes.length; i++) {
    const byte = bytes[i];
    if (byte !== undefined && byte >= 0x20 && byte < 0x7f) continue;
    if (i - from >= SHORTEST) take(from, Math.min(i, from + LONGEST));
    from = i + 1;
  }
}

const URL_SHAPE =
  /(?:https?|wss?|ftps?|file|tcp|udp|ssh|git|ldaps?|rediss?|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqps?|socks5h?|smb|s3):\/\/[^\s"'<>`{}|\\^]{3,300}/g;
const PATH_SHAPE =
  /^\/(?:etc|proc|sys|dev|home|root|tmp|var|run|bin|sbin|opt|boot|mnt|media|srv|lib(?:32|64)?|usr\/(?:s?bin|lib|share|local))(?:\/[\w.@+%~*-]+)+\/?$/;
/** A path in a format string, or in one that a shell expands: `%s/.ssh/id_rsa`, `cp %s /etc/cron.d/%s`, `~/.bashrc`. */
const FORMAT_PATH =
  /(?:%[-0-9.]*l{0,2}[sdux]|~|\$\{?HOME\}?)?(?:\/(?:[\w.@+~-]|%[-0-9.]*l{0,2}[sdux]){1,64}){1,12}/g;
const KNOWN_ROOT =
  /^\/(?:etc|proc|sys|dev|home|root|tmp|var|run|bin|sbin|opt|boot|mnt|media|srv|lib(?:32|64)?|usr)\//;
/** Below a folder that is not known: a hidden file, or a folder that systems have. */
const TELLING =
  /\/(?:\.[A-Za-z][\w.-]+|(?:etc|proc|bin|sbin|tmp|cron[\w.]*|autostart|systemd|Library|AppData)(?=\/|$))/;
const IPV4_SHAPE =
  /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5})?(?![\w.])/;
const TOKEN = /[A-Za-z0-9_./+=-]{16,}/g;

function look(
  bytes: Uint8Array,
  from: number,
  to: number,
  base: number,
  section: string,
  found: Map<string, Text>,
): void {
  const add = (kind: Text["kind"], text: string, at: number, what?: string) => {
    const key = `${kind} ${text}`;
    if (found.has(key) || found.size >= MOST) return;
    found.set(key, {
      kind,
      text,
      ...(what !== undefined && { what }),
      offset: base + from + at,
      ...(section !== "" && { section }),
    });
  };
  const { colons, dots, dashes, longest, percents, slashes } = shapeOf(bytes, from, to);
  const first = bytes[from]!;
  // %, ~ and $ say that a path is put together at run time.
  const isMade = slashes > 0 && (percents > 0 || first === 0x7e || first === 0x24) && to - from <= 512;
  if (first !== 0x2f && colons === 0 && dots < 3 && longest < 16 && dashes < 5 && !isMade) return;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  if (colons > 0 && text.includes("://"))
    for (const match of text.matchAll(URL_SHAPE)) add("url", match[0], match.index);
  if (first === 0x2f && PATH_SHAPE.test(text)) add("path", text, 0);
  else if (isMade && !text.includes("://"))
    for (const { 0: path, index } of text.matchAll(FORMAT_PATH))
      if (path.startsWith("/") ? KNOWN_ROOT.test(path) : TELLING.test(path)) add("path", path, index);
  if (dots >= 3 && text.length < 64) {
    const match = IPV4_SHAPE.exec(text);
    if (match !== null && !/^[0-2]\.\d+\.\d+\.\d+$/.test(match[0])) add("address", match[0], match.index);
  }
  if (dashes >= 5) {
    const match = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----/.exec(text);
    if (match !== null) add("key", match[0], match.index, `the header of a ${match[1]!.toLowerCase()}`);
  }
  if (longest >= 16) for (const match of text.matchAll(TOKEN)) keyAt(match[0], match.index, add);
}

/** Counted in one pass over the bytes: most text is none of what is looked for. */
function shapeOf(bytes: Uint8Array, from: number, to: number) {
  let [colons, dots, dashes, percents, slashes, longest, run] = [0, 0, 0, 0, 0, 0, 0];
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === 0x3a) colons++;
    else if (byte === 0x2e) dots++;
    else if (byte === 0x2d) dashes++;
    else if (byte === 0x25) percents++;
    else if (byte === 0x2f) slashes++;
    run = byte === 0x20 || byte === 0x2c || byte === 0x22 ? 0 : run + 1;
    if (run > longest) longest = run;
  }
  return { colons, dots, dashes, percents, slashes, longest };
}

/** Shapes of keys by their first three characters. */
const BY_START = new Map<string, (typeof SECRET_FORMATS)[number][]>();
for (const format of SECRET_FORMATS)
  for (const anchor of format.anchors) {
    const start = anchor.slice(0, 3);
    BY_START.set(start, [...(BY_START.get(start) ?? []), format]);
  }

function keyAt(
  token: string,
  at: number,
  add: (kind: "key", text: string, at: number, what: string) => void,
): void {
  for (const { pattern, what } of BY_START.get(token.slice(0, 3)) ?? []) {
    pattern.lastIndex = 0;
    const match = pattern.exec(token);
    if (match !== null && /\d/.test(match[0]) && match[0].length >= 20) {
      add("key", match[0], at, what);
      return;
    }
  }
}
