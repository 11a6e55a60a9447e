// src/errors.ts
var TABLE = {
  USAGE: { exit: 2, text: "{message}" },
  NATIVE_UNKNOWN: {
    exit: 125,
    text: "the native part of HERMES is made for Linux on x86_64, not for {platform}: here policies can be checked and simulated, commands judged and traces analysed"
  },
  NATIVE_MISSING: {
    exit: 125,
    text: "the native part of HERMES cannot be loaded: {why}; build it here with `node {script}` (it needs gcc)"
  },
  LAUNCH: { exit: 125, text: "cannot start {program}: {step} failed: {errno}" },
  NOT_FOUND: { exit: 127, text: "{program}: command not found" },
  NOT_EXECUTABLE: { exit: 126, text: "{program}: cannot execute: {errno}" },
  UNAVAILABLE: { exit: 125, text: "this run needs {what}, which is not available here: {why}" },
  POLICY_NOT_FOUND: { exit: 125, text: "policy {file}: cannot read it: {errno}" },
  POLICY_SYNTAX: { exit: 125, text: "policy {file}: {message}" },
  POLICY_INVALID: { exit: 125, text: "policy {file}: {message}" },
  POLICY_THREW: { exit: 125, text: "policy {policy} failed on {event} at {where}: {message}" },
  CONFLICT: { exit: 125, text: "policies {a} and {b} both change {event}, in different ways" },
  PROTOTYPES: { exit: 125, text: "prototypes {file}: {message}" },
  WRONG_DOOR: {
    exit: 125,
    text: "{what} of {event} is seen at the trace door only, and it came through the {door} door: a policy that looks there must say so (`inside: true`)"
  },
  NOT_RECORDED: { exit: 125, text: "{what} of {event} was not recorded" },
  EVENTS: { exit: 125, text: "{file}: {message}" },
  QUERY: { exit: 2, text: "the query failed: {message}" },
  COLLECTOR: { exit: 125, text: "the collector at {url} does not take the spans: {message}" },
  OUTPUT: { exit: 125, text: "cannot write {file}: {errno}" },
  TRACE_OPEN: { exit: 125, text: "cannot write the trace to {file}: {errno}" },
  TRACE_WRITE: { exit: 125, text: "writing the trace to {file} failed: {errno}" },
  SKILL: { exit: 1, text: "skill {name}: {message}" },
  DELEGATION: { exit: 1, text: "cannot delegate: {message}" },
  OSV: { exit: 125, text: "advisories on packages: {message}" },
  PINS: { exit: 125, text: "pinned tools {file}: {message}" },
  URL_REFUSED: { exit: 4, text: "{url} is refused: {reason}" },
  FETCH: { exit: 125, text: "cannot fetch {url}: {message}" },
  CONFIG: { exit: 125, text: "configuration {file}: {message}" },
  SETTINGS: { exit: 1, text: "settings {file}: {message}" },
  APPROVAL: { exit: 1, text: "approval {id}: {message}" },
  CREDENTIAL_FILE: { exit: 125, text: "cannot register the credential file {path}: {why}" },
  BACKEND: { exit: 125, text: "cannot run in {where}: {message}" },
  LINK: { exit: 125, text: "the run in {where} was lost: {message}" },
  STORE: { exit: 125, text: "store {store}: {message}" },
  AUDIT: { exit: 125, text: "audit: {message}" },
  COVERAGE: { exit: 125, text: "{file}: {message}" },
  FLEET: { exit: 125, text: "fleet: {message}" },
  ELF_OPEN: { exit: 1, text: "{file}: cannot be read: {why}" },
  ELF_KIND: { exit: 1, text: "{file}: not an ELF file" },
  ELF_BROKEN: { exit: 1, text: "{file}: a broken ELF file: {message}" },
  ELF_MACHINE: { exit: 1, text: "{file}: its code is for {machine}; only x86-64 is understood here" },
  SUPERVISOR: { exit: 125, text: "the supervisor failed: {message}" }
};
var HermesError = class extends Error {
  code;
  exitCode;
  /** The package is built as several bundles, each with its own copy of this class: any copy's errors are ours. */
  static [Symbol.hasInstance](value) {
    return value instanceof Error && value.name === "HermesError" && "exitCode" in value;
  }
  constructor(code, fields = {}, options) {
    super(
      TABLE[code].text.replace(/\{(\w+)\}/g, (whole, name) => String(fields[name] ?? whole)),
      options
    );
    this.name = "HermesError";
    this.code = code;
    this.exitCode = TABLE[code].exit;
  }
};

// src/elf/compressed.ts
import * as zlib from "node:zlib";
var MOST = 1 << 30;
function inflated(section, file, name) {
  const header = section.wide ? 24 : 12;
  const broken = (message) => new HermesError("ELF_BROKEN", { file, message: `section ${name} ${message}` });
  if (section.length < header) throw broken("is compressed, but ends within its header");
  const size = section.word(section.wide ? 8 : 4);
  if (size > MOST) throw broken(`says that it inflates to ${size} bytes`);
  const inflate = method(section.u32(0));
  if (inflate === void 0)
    throw broken(`is compressed in a way (${section.u32(0)}) that this version of Node cannot read`);
  try {
    return inflate(section.bytes.subarray(header), { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    throw broken(`cannot be inflated: ${error.message}`);
  }
}
function method(code) {
  if (code === 1) return zlib.inflateSync;
  if (code === 2) return zlib.zstdDecompressSync;
  return void 0;
}

// src/text.ts
import { isUtf8 } from "node:buffer";
var { latin1Slice, utf8Slice } = Buffer.prototype;
function decodeText(bytes) {
  return isUtf8(bytes) ? utf8Slice.call(bytes, 0, bytes.length) : decodePieces(bytes);
}
function asciiText(bytes, from, to) {
  for (let i = from; i < to; i++) if (bytes[i] > 127) return void 0;
  return latin1Slice.call(bytes, from, to);
}
function decodePieces(bytes) {
  let text = "";
  let valid = 0;
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes, i);
    i += length;
    if (length > 0) continue;
    text += utf8Slice.call(bytes, valid, i) + String.fromCharCode(56320 + bytes[i]);
    i += 1;
    valid = i;
  }
  return text + utf8Slice.call(bytes, valid, bytes.length);
}
function sequenceLength(bytes, i) {
  const first = bytes[i];
  if (first < 128) return 1;
  if (first < 194 || first > 244) return 0;
  const length = first < 224 ? 2 : first < 240 ? 3 : 4;
  const second = bytes[i + 1] ?? 0;
  const least = first === 224 ? 160 : first === 240 ? 144 : 128;
  const most = first === 237 ? 159 : first === 244 ? 143 : 191;
  if (second < least || second > most) return 0;
  for (let k = 2; k < length; k++) if (((bytes[i + k] ?? 0) & 192) !== 128) return 0;
  return length;
}

// src/elf/fields.ts
var Fields = class {
  constructor(bytes, wide2, little) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#little = little;
    this.wide = wide2;
  }
  bytes;
  #view;
  #little;
  wide;
  get length() {
    return this.bytes.length;
  }
  u8(at) {
    return this.bytes[at];
  }
  u16(at) {
    return this.#view.getUint16(at, this.#little);
  }
  u32(at) {
    return this.#view.getUint32(at, this.#little);
  }
  i32(at) {
    return this.#view.getInt32(at, this.#little);
  }
  /** No address or size is as large as 2^53: what is, becomes Infinity and fails every check of bounds. */
  u64(at) {
    const low = this.#view.getUint32(this.#little ? at : at + 4, this.#little);
    const high = this.#view.getUint32(this.#little ? at + 4 : at, this.#little);
    return high < 2097152 ? high * 4294967296 + low : Infinity;
  }
  i64(at) {
    return Number(this.#view.getBigInt64(at, this.#little));
  }
  /** A number as wide as the file's addresses. */
  word(at) {
    return this.wide ? this.u64(at) : this.u32(at);
  }
};
function nameAt(strings, at) {
  if (!(at >= 0 && at < strings.length)) return void 0;
  const end = strings.indexOf(0, at);
  const to = Math.min(end < 0 ? strings.length : end, at + 65536);
  return asciiText(strings, at, to) ?? decodeText(strings.subarray(at, to));
}

// src/elf/dynamic.ts
var DT = {
  NEEDED: 1,
  PLTRELSZ: 2,
  HASH: 4,
  STRTAB: 5,
  SYMTAB: 6,
  RELA: 7,
  RELASZ: 8,
  STRSZ: 10,
  INIT: 12,
  FINI: 13,
  SONAME: 14,
  RPATH: 15,
  REL: 17,
  RELSZ: 18,
  PLTREL: 20,
  TEXTREL: 22,
  JMPREL: 23,
  BIND_NOW: 24,
  INIT_ARRAY: 25,
  FINI_ARRAY: 26,
  INIT_ARRAYSZ: 27,
  FINI_ARRAYSZ: 28,
  RUNPATH: 29,
  FLAGS: 30,
  RELRSZ: 35,
  RELR: 36,
  GNU_HASH: 1879047925,
  VERSYM: 1879048176,
  FLAGS_1: 1879048187,
  VERDEF: 1879048188,
  VERDEFNUM: 1879048189,
  VERNEED: 1879048190,
  VERNEEDNUM: 1879048191
};
var MOST_ENTRIES = 4096;
var DF_1_PIE = 134217728;
function readDynamic(elf) {
  const segment = elf.segments.find((part) => part.type === "dynamic");
  const each = elf.bits === 64 ? 16 : 8;
  const length = segment === void 0 ? 0 : Math.min(segment.fileSize, MOST_ENTRIES * each);
  const table2 = elf.fields(elf.raw(segment?.offset ?? 0, length));
  const values = /* @__PURE__ */ new Map();
  const names = [];
  for (let at = 0; at + each <= table2.length; at += each) {
    const tag = table2.word(at);
    const value = table2.word(at + each / 2);
    if (tag === 0) break;
    if (tag === DT.NEEDED) names.push(value);
    else if (!values.has(tag)) values.set(tag, value);
  }
  const strings = mapped(elf, values.get(DT.STRTAB), values.get(DT.STRSZ));
  const text = (tag) => {
    const at = values.get(tag);
    return at === void 0 ? void 0 : nameAt(strings, at);
  };
  const soname = text(DT.SONAME);
  const rpath = text(DT.RPATH);
  const runpath = text(DT.RUNPATH);
  const flags1 = values.get(DT.FLAGS_1) ?? 0;
  return {
    present: segment !== void 0,
    ...soname !== void 0 && { soname },
    ...rpath !== void 0 && { rpath },
    ...runpath !== void 0 && { runpath },
    needed: names.map((at) => nameAt(strings, at)).filter((name) => name !== void 0),
    flags: values.get(DT.FLAGS) ?? 0,
    flags1,
    isPie: (flags1 & DF_1_PIE) !== 0,
    values,
    strings
  };
}
function mapped(elf, address, length) {
  const offset = address === void 0 ? void 0 : elf.offsetOf(address);
  if (address === void 0 || offset === void 0 || length === void 0) return new Uint8Array();
  const segment = elf.segmentAt(address);
  return elf.raw(offset, Math.min(length, segment.fileSize - (address - segment.address)));
}

// src/elf/parts.ts
var SEGMENT_TYPES = /* @__PURE__ */ new Map([
  [0, "null"],
  [1, "load"],
  [2, "dynamic"],
  [3, "interpreter"],
  [4, "note"],
  [6, "program-headers"],
  [7, "tls"],
  [1685382480, "eh-frame"],
  [1685382481, "stack"],
  [1685382482, "relro"],
  [1685382483, "property"]
]);
var segmentType = (code) => SEGMENT_TYPES.get(code) ?? "other";
var EXECUTE = 1;
var WRITE = 2;
var SHT_SYMTAB = 2;
var SHT_NOBITS = 8;
var SHF_ALLOC = 2;
var SHF_EXECINSTR = 4;
var SHF_COMPRESSED = 2048;
var MACHINES = /* @__PURE__ */ new Map([
  [2, "sparc"],
  [3, "i386"],
  [4, "m68k"],
  [8, "mips"],
  [20, "powerpc"],
  [21, "powerpc64"],
  [22, "s390"],
  [40, "arm"],
  [42, "sh"],
  [43, "sparc64"],
  [50, "ia64"],
  [62, "x86-64"],
  [183, "aarch64"],
  [243, "riscv"],
  [247, "bpf"],
  [258, "loongarch"]
]);
var machineName = (code) => MACHINES.get(code) ?? `machine ${code}`;

// src/elf/header.ts
var MOST_SECTIONS = 2e5;
function readTables(source, file) {
  const head = source.read(0, 64);
  if (head.length < 4 || head[0] !== 127 || head[1] !== 69 || head[2] !== 76 || head[3] !== 70)
    throw new HermesError("ELF_KIND", { file });
  const broken = (message) => new HermesError("ELF_BROKEN", { file, message });
  if (head.length < 16) throw broken("it ends within the header");
  const wide2 = head[4] === 2;
  const little = head[5] === 1;
  if (!wide2 && head[4] !== 1) throw broken(`its class is ${head[4]}, neither 32 nor 64 bit`);
  if (!little && head[5] !== 2) throw broken(`its byte order is ${head[5]}, neither little nor big endian`);
  if (head.length < (wide2 ? 64 : 52)) throw broken("it ends within the header");
  const problems = [];
  const fields = new Fields(head, wide2, little);
  const width = wide2 ? 8 : 4;
  const after = 24 + 3 * width;
  const place = {
    segmentsAt: fields.word(24 + width),
    sectionsAt: fields.word(24 + 2 * width),
    segmentSize: fields.u16(after + 6),
    segmentCount: fields.u16(after + 8),
    sectionSize: fields.u16(after + 10),
    sectionCount: fields.u16(after + 12),
    namesIndex: fields.u16(after + 14)
  };
  const table2 = (at, length) => new Fields(source.read(at, length), wide2, little);
  const sections = readSections(place, source.size, table2, problems);
  return {
    wide: wide2,
    little,
    machine: fields.u16(18),
    kind: fields.u16(16),
    entry: fields.word(24),
    segments: readSegments(place, source.size, table2, problems, broken),
    sections,
    problems
  };
}
function readSegments(place, size, table2, problems, broken) {
  const { segmentsAt: at, segmentSize: each, segmentCount: count } = place;
  if (count === 0) return [];
  const fields = table2(at, 0);
  if (each !== (fields.wide ? 56 : 32)) throw broken(`its program headers are ${each} bytes each`);
  if (at + count * each > size) throw broken("its program headers are outside the file");
  const all = table2(at, count * each);
  const segments = [];
  for (let i = 0; i < count; i++) {
    const segment = readSegment(all, i * each);
    if (!Number.isFinite(segment.address + segment.memorySize + segment.offset + segment.fileSize)) {
      problems.push(`segment ${i} lies outside any address that a program can have`);
      continue;
    }
    if (segment.offset + segment.fileSize > size) problems.push(`segment ${i} ends outside the file`);
    segments.push(segment);
  }
  return segments;
}
function readSegment(all, at) {
  const wide2 = all.wide;
  return {
    type: segmentType(all.u32(at)),
    flags: all.u32(at + (wide2 ? 4 : 24)),
    offset: all.word(at + (wide2 ? 8 : 4)),
    address: all.word(at + (wide2 ? 16 : 8)),
    fileSize: all.word(at + (wide2 ? 32 : 16)),
    memorySize: all.word(at + (wide2 ? 40 : 20))
  };
}
function readSections(place, size, table2, problems) {
  const { sectionsAt: at, sectionSize: each } = place;
  if (at === 0) return [];
  const expected = table2(0, 0).wide ? 64 : 40;
  if (each !== expected || at + each > size) {
    problems.push("its section headers cannot be read");
    return [];
  }
  const first = readSection(table2(at, each), 0);
  const count = place.sectionCount === 0 ? first.size : place.sectionCount;
  const namesIndex = place.namesIndex === 65535 ? first.link : place.namesIndex;
  if (count > MOST_SECTIONS || at + count * each > size) {
    problems.push("its section headers are outside the file");
    return [];
  }
  const all = table2(at, count * each);
  if (all.length < count * each) return [];
  const raw = Array.from({ length: count }, (_, i) => readSection(all, i * each));
  const naming = raw[namesIndex];
  const strings = naming === void 0 ? new Uint8Array() : table2(naming.offset, naming.size).bytes;
  return raw.map((section, i) => checkedSection(section, i, strings, size, problems));
}
function readSection(all, at) {
  const width = all.wide ? 8 : 4;
  return {
    nameAt: all.u32(at),
    type: all.u32(at + 4),
    flags: all.word(at + 8),
    address: all.word(at + 8 + width),
    offset: all.word(at + 8 + 2 * width),
    size: all.word(at + 8 + 3 * width),
    link: all.u32(at + 8 + 4 * width),
    info: all.u32(at + 12 + 4 * width),
    entrySize: all.word(at + 16 + 5 * width)
  };
}
function checkedSection(raw, i, strings, size, problems) {
  const { nameAt: at, ...rest } = raw;
  const section = { ...rest, name: nameAt(strings, at) ?? "" };
  if (section.type !== SHT_NOBITS && section.type !== 0 && !(section.offset + section.size <= size)) {
    problems.push(`section ${i} ${section.name} ends outside the file`);
    return { ...section, size: Math.max(0, Math.min(section.size, size - Math.min(section.offset, size))) };
  }
  if (!Number.isFinite(section.address + section.size)) {
    problems.push(`section ${i} ${section.name} lies outside any address that a program can have`);
    return { ...section, address: 0, size: Number.isFinite(section.size) ? section.size : 0 };
  }
  return section;
}

// src/elf/notes.ts
var SHT_NOTE = 7;
var PROPERTY = 5;
var MOST_NOTES = 4096;
var LONGEST = 1 << 24;
function readNotes(elf) {
  const parts = [
    ...elf.segments.filter(({ type }) => type === "note").map(({ offset, fileSize: size }) => ({ offset, size })),
    ...elf.sections.filter(({ type }) => type === SHT_NOTE)
  ];
  const seen = /* @__PURE__ */ new Set();
  const notes = [];
  for (const { offset, size } of parts) {
    const bytes = elf.raw(offset, Math.min(size, LONGEST));
    const fields = elf.fields(bytes);
    let at = 0;
    while (at + 12 <= bytes.length && notes.length < MOST_NOTES) {
      const nameSize = fields.u32(at);
      const dataSize = fields.u32(at + 4);
      const type = fields.u32(at + 8);
      const dataAt = at + 12 + aligned(nameSize, 4);
      if (dataAt + dataSize > bytes.length) break;
      const owner = Buffer.from(bytes.subarray(at + 12, at + 12 + nameSize)).toString("latin1");
      const note = {
        owner: owner.replace(/\0.*$/s, ""),
        type,
        data: bytes.subarray(dataAt, dataAt + dataSize)
      };
      if (!seen.has(offset + at)) notes.push(note);
      seen.add(offset + at);
      const wide2 = note.owner === "GNU" && type === PROPERTY && elf.bits === 64;
      at = dataAt + aligned(dataSize, wide2 ? 8 : 4);
    }
  }
  return notes;
}
var aligned = (value, to) => Math.ceil(value / to) * to;

// src/elf/plt.ts
var SECTIONS = [".plt", ".plt.sec", ".plt.got", ".iplt"];
var STUB = 16;
function readPlt(elf) {
  if (!elf.isX64) return [];
  const slots = new Map(elf.relocations.map((relocation) => [relocation.address, relocation]));
  return SECTIONS.flatMap((name) => {
    const section = elf.section(name);
    if (section === void 0) return [];
    const bytes = elf.bytes(section);
    const fields = elf.fields(bytes);
    const size = name === ".plt.got" && section.entrySize === 8 ? 8 : STUB;
    const entries2 = [];
    for (let at = 0; at + 6 <= bytes.length; at += size) {
      const jump = jumpIn(bytes, at, Math.min(size, bytes.length - at));
      if (jump === void 0) continue;
      const slot = section.address + jump + 6 + fields.i32(jump + 2);
      const relocation = slots.get(slot);
      if (relocation === void 0) continue;
      const { symbol, version } = relocation;
      entries2.push({
        address: section.address + at,
        size,
        slot,
        ...symbol !== void 0 && { symbol },
        ...version !== void 0 && { version }
      });
    }
    return entries2;
  });
}
function jumpIn(bytes, at, size) {
  let from = at;
  if (bytes[from] === 243 && bytes[from + 1] === 15 && bytes[from + 2] === 30 && bytes[from + 3] === 250)
    from += 4;
  if (bytes[from] === 242) from += 1;
  return bytes[from] === 255 && bytes[from + 1] === 37 && from + 6 <= at + size ? from : void 0;
}

// src/elf/versions.ts
var MOST_VERSIONS = 32768;
function readVersions(elf, count) {
  const { values } = elf.dynamic;
  const table2 = elf.fields(mapped(elf, values.get(DT.VERSYM), count * 2));
  const names = /* @__PURE__ */ new Map();
  readDefined(elf, names);
  readNeeded(elf, names);
  const entry = (index) => index * 2 + 2 <= table2.length ? table2.u16(index * 2) : 0;
  return {
    of: (index) => names.get(entry(index) & 32767),
    hidden: (index) => (entry(index) & 32768) !== 0
  };
}
function readDefined(elf, names) {
  const { values, strings } = elf.dynamic;
  const table2 = elf.fields(mapped(elf, values.get(DT.VERDEF), Infinity));
  const count = Math.min(values.get(DT.VERDEFNUM) ?? 0, MOST_VERSIONS);
  for (let i = 0, at = 0; i < count && at + 20 <= table2.length; i++) {
    const isBase = (table2.u16(at + 2) & 1) !== 0;
    const first = at + table2.u32(at + 12);
    const name = first + 8 <= table2.length ? nameAt(strings, table2.u32(first)) : void 0;
    if (name !== void 0 && !isBase) names.set(table2.u16(at + 4) & 32767, name);
    const next = table2.u32(at + 16);
    if (next === 0) break;
    at += next;
  }
}
function readNeeded(elf, names) {
  const { values, strings } = elf.dynamic;
  const table2 = elf.fields(mapped(elf, values.get(DT.VERNEED), Infinity));
  const count = Math.min(values.get(DT.VERNEEDNUM) ?? 0, MOST_VERSIONS);
  let left = MOST_VERSIONS;
  for (let i = 0, at = 0; i < count && at + 16 <= table2.length; i++) {
    let aux = at + table2.u32(at + 8);
    for (let k = table2.u16(at + 2); k > 0 && left > 0 && aux + 16 <= table2.length; k--, left--) {
      const name = nameAt(strings, table2.u32(aux + 8));
      if (name !== void 0) names.set(table2.u16(aux + 6) & 32767, name);
      const step = table2.u32(aux + 12);
      if (step === 0) break;
      aux += step;
    }
    const next = table2.u32(at + 12);
    if (next === 0) break;
    at += next;
  }
}

// src/elf/relocations.ts
var KINDS = /* @__PURE__ */ new Map([
  [1, "absolute"],
  [5, "copy"],
  [6, "global"],
  [7, "jump"],
  [8, "relative"],
  [37, "ifunc"]
]);
function readRelocations(elf) {
  const { values } = elf.dynamic;
  const relocations = [];
  const names = namesOf(elf);
  const read = (bytes, withAddend) => {
    const fields = elf.fields(bytes);
    const wide2 = elf.bits === 64;
    const each = (wide2 ? 16 : 8) + (withAddend ? wide2 ? 8 : 4 : 0);
    for (let at = 0; at + each <= bytes.length; at += each) {
      const type = wide2 ? fields.u32(at + (elf.littleEndian ? 8 : 12)) : fields.u32(at + 4) & 255;
      const index = wide2 ? fields.u32(at + (elf.littleEndian ? 12 : 8)) : fields.u32(at + 4) >>> 8;
      const addend = !withAddend ? 0 : wide2 ? fields.i64(at + 16) : fields.i32(at + 8);
      const address = fields.word(at);
      if (!Number.isFinite(address)) continue;
      const kind = (elf.isX64 ? KINDS.get(type) : void 0) ?? "other";
      relocations.push({ address, kind, addend, ...index !== 0 && names(index) });
    }
  };
  read(mapped(elf, values.get(DT.RELA), values.get(DT.RELASZ)), true);
  read(mapped(elf, values.get(DT.REL), values.get(DT.RELSZ)), false);
  read(mapped(elf, values.get(DT.JMPREL), values.get(DT.PLTRELSZ)), values.get(DT.PLTREL) !== DT.REL);
  if (elf.isX64) readRelative(elf, relocations);
  else if (!elf.dynamic.present) return relocations;
  return relocations;
}
function namesOf(elf) {
  const { values, strings } = elf.dynamic;
  const each = elf.bits === 64 ? 24 : 16;
  const table2 = elf.fields(mapped(elf, values.get(DT.SYMTAB), Infinity));
  const count = Math.floor(table2.length / each);
  const versions = readVersions(elf, count);
  return (index) => {
    if (index >= count) return {};
    const symbol = nameAt(strings, table2.u32(index * each));
    const version = versions.of(index);
    return { ...symbol && { symbol }, ...version !== void 0 && { version } };
  };
}
function readRelative(elf, relocations) {
  const { values } = elf.dynamic;
  const table2 = elf.fields(mapped(elf, values.get(DT.RELR), values.get(DT.RELRSZ)));
  const add = (address) => {
    const held = mapped(elf, address, 8);
    const addend = held.length === 8 ? elf.fields(held).u64(0) : 0;
    relocations.push({ address, kind: "relative", addend: Number.isFinite(addend) ? addend : 0 });
  };
  let next = 0;
  for (let at = 0; at + 8 <= table2.length; at += 8) {
    const low = table2.u32(at);
    const high = table2.u32(at + 4);
    if ((low & 1) === 0) {
      const place = table2.u64(at);
      if (!Number.isFinite(place)) return;
      add(place);
      next = place + 8;
      continue;
    }
    for (let bit = 1; bit < 64; bit++)
      if (((bit < 32 ? low >>> bit : high >>> bit - 32) & 1) !== 0) add(next + (bit - 1) * 8);
    next += 63 * 8;
  }
}

// src/elf/separate.ts
import { dirname, isAbsolute, join } from "node:path";

// src/elf/crc32.ts
var TABLE2 = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : value >>> 1 ^ 3988292384;
  return value;
});
function crc32(bytes, before2 = 0) {
  let crc = ~before2;
  for (let i = 0; i < bytes.length; i++) crc = crc >>> 8 ^ TABLE2[(crc ^ bytes[i]) & 255];
  return ~crc >>> 0;
}

// src/elf/separate.ts
var DEBUG_FOLDER = "/usr/lib/debug";
function openDebugFile(elf, open) {
  return byBuildId(elf, open) ?? byLink(elf, open);
}
function byBuildId(elf, open) {
  const id = elf.buildId;
  if (id === void 0 || id.length < 4) return void 0;
  const path = join(DEBUG_FOLDER, ".build-id", id.slice(0, 2), `${id.slice(2)}.debug`);
  return opened(path, open, (file) => file.buildId === id);
}
function byLink(elf, open) {
  const section = elf.section(".gnu_debuglink");
  if (section === void 0 || !isAbsolute(elf.path)) return void 0;
  const bytes = elf.bytes(section);
  const name = nameAt(bytes, 0);
  if (!name || name.includes("/") || bytes.length < 8) return void 0;
  const crc = elf.fields(bytes).u32(bytes.length - 4);
  const folder = dirname(elf.path);
  const places = [join(folder, name), join(folder, ".debug", name), join(DEBUG_FOLDER, folder, name)];
  for (const path of places) {
    if (path === elf.path) continue;
    const file = opened(path, open, (found) => crcOf(found) === crc);
    if (file !== void 0) return file;
  }
  return void 0;
}
function opened(path, open, belongs) {
  let file;
  try {
    file = open(path);
  } catch {
    return void 0;
  }
  if (belongs(file)) return file;
  file.close();
  return void 0;
}
function crcOf(file) {
  const step = 1 << 20;
  let crc = 0;
  for (let at = 0; at < file.size; at += step) crc = crc32(file.raw(at, step), crc);
  return crc;
}

// src/elf/source.ts
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
function bytesSource(bytes) {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(Math.min(offset, bytes.length), offset + length),
    close: () => {
    }
  };
}
function fileSource(path) {
  const fd = openFile(path);
  let open = true;
  const size = fstatSync(fd).size;
  return {
    size,
    read: (offset, length) => {
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - offset)));
      return bytes.subarray(0, readFully(fd, bytes, offset));
    },
    close: () => {
      if (open) closeSync(fd);
      open = false;
    }
  };
}
function openFile(path) {
  let fd;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    throw new HermesError("ELF_OPEN", { file: path, why: reason(error) }, { cause: error });
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return fd;
  closeSync(fd);
  throw new HermesError("ELF_OPEN", {
    file: path,
    why: stat.isDirectory() ? "it is a folder" : "it is not a regular file"
  });
}
function readFully(fd, bytes, offset) {
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, offset + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}
function reason(error) {
  const code = error.code;
  return code === void 0 ? String(error) : code;
}

// src/elf/glob.ts
function globMatches(pattern, text) {
  let p = 0;
  let t = 0;
  let star = -1;
  let retry = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      retry = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++retry;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

// src/elf/symbol-table.ts
var Loaded = class {
  constructor(source) {
    this.source = source;
  }
  source;
  #byName;
  named(name) {
    return this.byName().get(name) ?? [];
  }
  byName() {
    if (this.#byName !== void 0) return this.#byName;
    const byName = /* @__PURE__ */ new Map();
    for (let i = 0; i < this.source.count; i++) {
      const name = this.source.isPlace(i) ? this.source.name(i) : "";
      if (name === "") continue;
      const known2 = byName.get(name);
      if (known2 === void 0) byName.set(name, [i]);
      else known2.push(i);
    }
    this.#byName = byName;
    return byName;
  }
};
var SymbolTable = class {
  #sources;
  #first;
  #tables;
  #places;
  constructor(sources) {
    this.#sources = sources;
  }
  /** All symbols of a name, the default version first; or of one version when it is named: "memcpy@GLIBC_2.14". */
  byName(name) {
    const [bare, version] = splitVersion(name);
    const found = this.#merged((table2) => table2.named(bare));
    const asked = version === void 0 ? found : found.filter((symbol) => symbol.version === version);
    return asked.sort((a, b) => rank(b) - rank(a));
  }
  /** As byName, but only what others can link to: the loader's table is small, and quickly read. */
  exported(name) {
    const [bare, version] = splitVersion(name);
    const table2 = this.#dynamic();
    return table2.named(bare).map((index) => table2.source.symbol(index)).filter((symbol) => symbol.exported && (version === void 0 || symbol.version === version)).sort((a, b) => rank(b) - rank(a));
  }
  /** All symbols whose name a pattern of `*` and `?` describes. */
  matching(glob) {
    if (!/[*?]/.test(glob)) return this.byName(glob);
    const names = /* @__PURE__ */ new Set();
    for (const table2 of this.#all()) for (const name of table2.byName().keys()) names.add(name);
    return [...names].filter((name) => globMatches(glob, name)).flatMap((name) => this.byName(name));
  }
  /** The symbol that an address lies in; undefined outside of all. One without a size is only at its own address. */
  at(address) {
    this.#places ??= placesOf(this.#all().map((table2) => table2.source));
    return this.#places.at(address);
  }
  all() {
    return this.#merged((table2) => {
      const indices = [];
      for (let i = 0; i < table2.source.count; i++) if (table2.source.isPlace(i)) indices.push(i);
      return indices;
    }).filter((symbol) => symbol.name !== "");
  }
  /** Where code begins, and how long it is; one place may come several times. */
  *functions() {
    for (const { source } of this.#all())
      for (const index of source.located())
        if (source.isCode(index)) yield { address: source.address(index), size: source.size(index) };
  }
  /** The same symbol is often in several tables: the loader's comes first, and knows the version. */
  #merged(indices) {
    const found = [];
    const known2 = /* @__PURE__ */ new Set();
    for (const table2 of this.#all())
      for (const index of indices(table2)) {
        const symbol = table2.source.symbol(index);
        const place = `${symbol.name} ${symbol.address} ${symbol.defined}`;
        const full2 = `${place} ${symbol.version ?? ""}`;
        if (known2.has(full2) || symbol.version === void 0 && known2.has(place)) continue;
        known2.add(full2).add(place);
        found.push(symbol);
      }
    return found;
  }
  #dynamic() {
    this.#first ??= new Loaded(this.#sources.dynamic());
    return this.#first;
  }
  #all() {
    this.#tables ??= [this.#dynamic(), ...this.#sources.others().map((source) => new Loaded(source))];
    return this.#tables;
  }
};
function rank(symbol) {
  return (symbol.defined ? 4 : 0) + (symbol.exported ? 2 : 0) + (symbol.hidden ? 0 : 1);
}
function splitVersion(name) {
  const at = name.indexOf("@");
  return at <= 0 ? [name] : [name.slice(0, at), name.slice(at + 1).replace(/^@/, "")];
}
var MOST_STEPS = 1e4;
function placesOf(sources) {
  const located = sources.flatMap((source) => Array.from(source.located(), (index) => ({ source, index })));
  const starts = Float64Array.from(located, ({ source, index }) => source.address(index));
  const order = Uint32Array.from(located.keys()).sort((a, b) => starts[a] - starts[b]);
  const sorted = Float64Array.from(order, (i) => starts[i]);
  const ends = new Float64Array(order.length);
  const reach = new Float64Array(order.length);
  for (let i = 0, far = 0; i < order.length; i++) {
    const { source, index } = located[order[i]];
    ends[i] = sorted[i] + Math.max(1, source.size(index));
    far = Math.max(far, ends[i]);
    reach[i] = far;
  }
  const symbolAt = (i) => located[order[i]].source.symbol(located[order[i]].index);
  return {
    at(address) {
      let i = lastAtMost(sorted, address);
      for (let steps = 0; i >= 0 && reach[i] > address && steps < MOST_STEPS; steps++) {
        if (ends[i] > address) {
          let best = symbolAt(i);
          for (let k = i - 1; k >= 0 && sorted[k] === sorted[i]; k--)
            if (ends[k] > address) best = better(best, symbolAt(k));
          return best;
        }
        i -= 1;
      }
      return void 0;
    }
  };
}
function lastAtMost(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = low + high >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
function better(a, b) {
  return compare(a, b) <= 0 ? a : b;
}
function compare(a, b) {
  const isCode = (s) => s.type === "function" || s.type === "ifunc" ? 0 : 1;
  const isLocal = (s) => s.binding === "local" ? 1 : 0;
  const underscores = (s) => /^_*/.exec(s.name)[0].length;
  return isCode(a) - isCode(b) || isLocal(a) - isLocal(b) || underscores(a) - underscores(b) || a.name.length - b.name.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : (a.version ?? "") < (b.version ?? "") ? -1 : 1);
}

// src/elf/lzma.ts
var HALF = 1024;
var Lengths = class {
  choice = new Uint16Array(2);
  low = new Uint16Array(16 << 3);
  middle = new Uint16Array(16 << 3);
  high = new Uint16Array(256);
  reset() {
    for (const each of [this.choice, this.low, this.middle, this.high]) each.fill(HALF);
  }
};
var LzmaDecoder = class {
  #output;
  #dictionary;
  #input = new Uint8Array();
  #at = 0;
  #range = 0;
  #code = 0;
  #contextBits = 0;
  #literalMask = 0;
  #positionMask = 0;
  #literals = new Uint16Array();
  #state = 0;
  #distances = [0, 0, 0, 0];
  #isMatch = new Uint16Array(12 << 4);
  #isRepeat = new Uint16Array(12);
  #isRepeat0 = new Uint16Array(12);
  #isRepeat1 = new Uint16Array(12);
  #isRepeat2 = new Uint16Array(12);
  #isRepeat0Long = new Uint16Array(12 << 4);
  #slots = new Uint16Array(4 << 6);
  #special = new Uint16Array(128);
  #align = new Uint16Array(16);
  #lengths = new Lengths();
  #repeatLengths = new Lengths();
  constructor(output, dictionary) {
    this.#output = output;
    this.#dictionary = dictionary;
  }
  setProperties(byte) {
    if (byte >= 9 * 5 * 5) throw new Error("properties of no kind");
    this.#contextBits = byte % 9;
    const positionBits = Math.floor(byte / 9) % 5;
    if (this.#contextBits + positionBits > 4) throw new Error("properties of no kind");
    this.#literalMask = (1 << positionBits) - 1;
    this.#positionMask = (1 << Math.floor(byte / 45)) - 1;
    this.#literals = new Uint16Array(768 << this.#contextBits + positionBits);
  }
  reset() {
    if (this.#literals.length === 0) throw new Error("no properties");
    this.#state = 0;
    this.#distances = [0, 0, 0, 0];
    for (const each of [
      this.#literals,
      this.#isMatch,
      this.#isRepeat,
      this.#isRepeat0,
      this.#isRepeat1,
      this.#isRepeat2,
      this.#isRepeat0Long,
      this.#slots,
      this.#special,
      this.#align
    ])
      each.fill(HALF);
    this.#lengths.reset();
    this.#repeatLengths.reset();
  }
  /** Unpacks one chunk: so many bytes, for which there is room. */
  decode(input, size) {
    if (this.#literals.length === 0) throw new Error("no properties");
    this.#input = input;
    this.#at = 1;
    this.#range = 4294967295;
    this.#code = 0;
    for (let i = 0; i < 4; i++) this.#code = (this.#code << 8 | this.#next()) >>> 0;
    const end = this.#output.length + size;
    while (this.#output.length < end) this.#packet(end);
  }
  #packet(end) {
    const output = this.#output;
    const position = output.length - output.start & this.#positionMask;
    const state = this.#state;
    if (this.#bit(this.#isMatch, (state << 4) + position) === 0) {
      this.#literal();
    } else if (this.#bit(this.#isRepeat, state) === 0) {
      const length = this.#length(this.#lengths, position);
      this.#state = state < 7 ? 7 : 10;
      const distance = this.#distance(length);
      this.#distances = [distance, this.#distances[0], this.#distances[1], this.#distances[2]];
      this.#copy(length + 2, end);
    } else if (this.#chooseRepeat(state, position)) {
      const length = this.#length(this.#repeatLengths, position);
      this.#state = state < 7 ? 8 : 11;
      this.#copy(length + 2, end);
    } else {
      this.#state = state < 7 ? 9 : 11;
      this.#copy(1, end);
    }
  }
  /** Brings the distance that is meant to the front; false when it is the last one, for a single byte. */
  #chooseRepeat(state, position) {
    const [a, b, c, d] = this.#distances;
    if (this.#bit(this.#isRepeat0, state) === 0)
      return this.#bit(this.#isRepeat0Long, (state << 4) + position) !== 0;
    if (this.#bit(this.#isRepeat1, state) === 0) this.#distances = [b, a, c, d];
    else if (this.#bit(this.#isRepeat2, state) === 0) this.#distances = [c, a, b, d];
    else this.#distances = [d, a, b, c];
    return true;
  }
  #literal() {
    const output = this.#output;
    const offset = output.length - output.start;
    const before2 = offset === 0 ? 0 : output.bytes[output.length - 1];
    const context = ((offset & this.#literalMask) << this.#contextBits) + (before2 >> 8 - this.#contextBits);
    const from = 768 * context;
    let symbol = 1;
    if (this.#state >= 7) {
      let match = output.bytes[this.#back(this.#distances[0])];
      while (symbol < 256) {
        const expected = match >> 7 & 1;
        match <<= 1;
        const bit = this.#bit(this.#literals, from + (1 + expected << 8) + symbol);
        symbol = symbol << 1 | bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 256) symbol = symbol << 1 | this.#bit(this.#literals, from + symbol);
    output.bytes[output.length++] = symbol & 255;
    this.#state = this.#state < 4 ? 0 : this.#state < 10 ? this.#state - 3 : this.#state - 6;
  }
  #copy(length, end) {
    const output = this.#output;
    let from = this.#back(this.#distances[0]);
    if (output.length + length > end) throw new Error("a match is longer than its chunk");
    for (let i = 0; i < length; i++) output.bytes[output.length++] = output.bytes[from++];
  }
  #back(distance) {
    const output = this.#output;
    if (distance >= output.length - output.start || distance >= this.#dictionary)
      throw new Error("a match reaches before the beginning");
    return output.length - 1 - distance;
  }
  #length(lengths, position) {
    if (this.#bit(lengths.choice, 0) === 0) return this.#tree(lengths.low, position << 3, 3);
    if (this.#bit(lengths.choice, 1) === 0) return 8 + this.#tree(lengths.middle, position << 3, 3);
    return 16 + this.#tree(lengths.high, 0, 8);
  }
  #distance(length) {
    const slot = this.#tree(this.#slots, Math.min(length, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | slot & 1) * 2 ** bits;
    if (slot < 14) return base + this.#reverse(this.#special, base - slot, bits);
    return base + this.#direct(bits - 4) * 16 + this.#reverse(this.#align, 0, 4);
  }
  #tree(probabilities, from, bits) {
    let symbol = 1;
    for (let i = 0; i < bits; i++) symbol = symbol << 1 | this.#bit(probabilities, from + symbol);
    return symbol - (1 << bits);
  }
  #reverse(probabilities, from, bits) {
    let symbol = 1;
    let value = 0;
    for (let i = 0; i < bits; i++) {
      const bit = this.#bit(probabilities, from + symbol);
      symbol = symbol << 1 | bit;
      value |= bit << i;
    }
    return value;
  }
  #direct(bits) {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      this.#normalise();
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = value * 2 + bit;
    }
    return value;
  }
  #bit(probabilities, index) {
    this.#normalise();
    const probability = probabilities[index];
    const bound = (this.#range >>> 11) * probability;
    if (this.#code < bound) {
      this.#range = bound;
      probabilities[index] = probability + (2048 - probability >> 5);
      return 0;
    }
    this.#range -= bound;
    this.#code -= bound;
    probabilities[index] = probability - (probability >> 5);
    return 1;
  }
  #normalise() {
    if (this.#range >= 16777216) return;
    this.#range = this.#range << 8 >>> 0;
    this.#code = (this.#code << 8 | this.#next()) >>> 0;
  }
  #next() {
    if (this.#at > this.#input.length) throw new Error("a chunk ends too early");
    return this.#input[this.#at++] ?? 0;
  }
};

// src/elf/xz.ts
function unpackXz(bytes, most) {
  const MAGIC2 = [253, 55, 122, 88, 90, 0];
  if (bytes.length < 24 || MAGIC2.some((byte, i) => bytes[i] !== byte)) throw new Error("not an xz file");
  const checkSize = CHECK_SIZES[Math.ceil((bytes[7] & 15) / 3)];
  const output = new Output(most);
  let at = 12;
  while (at < bytes.length && bytes[at] !== 0) {
    const dictionary = readBlockHeader(bytes, at);
    at += (bytes[at] + 1) * 4;
    at = unpackLzma2(bytes, at, output, dictionary);
    at += (4 - at % 4) % 4 + checkSize;
  }
  return output.bytes.subarray(0, output.length);
}
var CHECK_SIZES = [0, 4, 8, 16, 32, 64];
var LZMA2 = 33;
var Output = class {
  bytes = new Uint8Array(1 << 16);
  length = 0;
  /** Where the dictionary was last forgotten: no match reaches before it. */
  start = 0;
  #most;
  constructor(most) {
    this.#most = most;
  }
  reserve(count) {
    const needed = this.length + count;
    if (needed > this.#most) throw new Error(`more than ${this.#most} bytes`);
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
};
function readBlockHeader(bytes, from) {
  const end = from + (bytes[from] + 1) * 4;
  if (end > bytes.length) throw new Error("a block ends within its header");
  const flags = bytes[from + 1];
  if ((flags & 3) !== 0) throw new Error("more than one filter");
  let at = from + 2;
  const number = () => {
    let value = 0;
    for (let shift = 0; shift < 56; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if ((byte & 128) === 0) return value;
    }
    throw new Error("a number without end");
  };
  if ((flags & 64) !== 0) number();
  if ((flags & 128) !== 0) number();
  if (number() !== LZMA2 || number() !== 1) throw new Error("a filter other than LZMA2");
  const bits = bytes[at] & 63;
  if (bits > 40) throw new Error("a dictionary of no size");
  return bits === 40 ? 4294967295 : (2 | bits & 1) * 2 ** (Math.floor(bits / 2) + 11);
}
function unpackLzma2(bytes, from, output, dictionary) {
  const lzma = new LzmaDecoder(output, dictionary);
  let at = from;
  let fresh = true;
  for (; ; ) {
    if (at >= bytes.length) throw new Error("a block without end");
    const control = bytes[at++];
    if (control === 0) return at;
    if (at + 5 > bytes.length) throw new Error("a chunk ends within its header");
    const forgets = control === 1 || control >= 224;
    if (fresh && !forgets) throw new Error("a dictionary is used that is not there");
    fresh = false;
    if (forgets) output.start = output.length;
    const size = (control < 128 ? 0 : (control & 31) << 16) + (bytes[at] << 8) + bytes[at + 1] + 1;
    output.reserve(size);
    if (control < 128) {
      if (control > 2) throw new Error("a chunk of no kind");
      if (at + 2 + size > bytes.length) throw new Error("a chunk ends outside the file");
      output.bytes.set(bytes.subarray(at + 2, at + 2 + size), output.length);
      output.length += size;
      at += 2 + size;
      continue;
    }
    const packed = (bytes[at + 2] << 8) + bytes[at + 3] + 1;
    at += 4;
    if (control >= 192) lzma.setProperties(bytes[at++]);
    if (control >= 160) lzma.reset();
    if (at + packed > bytes.length) throw new Error("a chunk ends outside the file");
    lzma.decode(bytes.subarray(at, at + packed), size);
    at += packed;
  }
}

// src/elf/symbols.ts
var TYPES = ["none", "object", "function", "section", "file", "common", "tls"];
var BINDINGS = ["local", "global", "weak"];
var SECTION = 3;
var FILE = 4;
var ABSOLUTE = 65521;
var COMMON = 65522;
var MOST_DEBUG_DATA = 1 << 28;
function symbolSources(elf) {
  return {
    dynamic: () => dynamicTable(elf),
    others() {
      const sources = sectionTables(elf);
      const packed = elf.section(".gnu_debugdata");
      if (packed !== void 0) sources.push(...packedTables(elf.bytes(packed)));
      if (elf.debugFile !== void 0) sources.push(...sectionTables(elf.debugFile));
      return sources;
    }
  };
}
function dynamicTable(elf) {
  const { values, strings } = elf.dynamic;
  const count = dynamicCount(elf);
  const bytes = mapped(elf, values.get(DT.SYMTAB), count * entrySize(elf));
  return table(elf, bytes, strings, true);
}
function dynamicCount(elf) {
  const { values } = elf.dynamic;
  const hash = elf.fields(mapped(elf, values.get(DT.HASH), 8));
  if (hash.length === 8) return hash.u32(4);
  const byHash = gnuHashCount(elf, values.get(DT.GNU_HASH));
  if (byHash !== void 0) return byHash;
  const section = elf.section(".dynsym");
  if (section !== void 0) return Math.floor(section.size / entrySize(elf));
  const from = values.get(DT.SYMTAB) ?? 0;
  const to = values.get(DT.STRTAB) ?? 0;
  return Math.max(0, Math.floor((to - from) / entrySize(elf)));
}
function gnuHashCount(elf, address) {
  const hash = elf.fields(mapped(elf, address, Infinity));
  if (hash.length < 16) return void 0;
  const buckets = hash.u32(0);
  const first = hash.u32(4);
  const bucketsAt = 16 + hash.u32(8) * (elf.bits / 8);
  const chainsAt = bucketsAt + buckets * 4;
  if (chainsAt > hash.length) return void 0;
  let last = 0;
  for (let i = 0; i < buckets; i++) last = Math.max(last, hash.u32(bucketsAt + i * 4));
  if (last < first) return void 0;
  for (let at = chainsAt + (last - first) * 4; at + 4 <= hash.length; at += 4, last++)
    if ((hash.u32(at) & 1) !== 0) return last + 1;
  return void 0;
}
function sectionTables(elf) {
  return elf.sections.filter((section) => section.type === SHT_SYMTAB).map((section) => {
    const strings = elf.sections[section.link];
    return table(
      elf,
      elf.bytes(section),
      strings === void 0 ? new Uint8Array() : elf.bytes(strings),
      false
    );
  });
}
function packedTables(bytes) {
  try {
    return sectionTables(Elf.from(unpackXz(bytes, MOST_DEBUG_DATA), ".gnu_debugdata"));
  } catch {
    return [];
  }
}
var entrySize = (elf) => elf.bits === 64 ? 24 : 16;
function table(elf, bytes, strings, isDynamic) {
  const each = entrySize(elf);
  const fields = elf.fields(bytes);
  const wide2 = elf.bits === 64;
  const count = Math.floor(bytes.length / each);
  const versions = isDynamic ? readVersions(elf, count) : void 0;
  const written2 = (i) => nameAt(strings, fields.u32(i * each)) ?? "";
  const address = (i) => fields.word(i * each + (wide2 ? 8 : 4));
  const size = (i) => fields.word(i * each + (wide2 ? 16 : 8));
  const info = (i) => fields.u8(i * each + (wide2 ? 4 : 12));
  const visibility = (i) => fields.u8(i * each + (wide2 ? 5 : 13)) & 3;
  const sectionOf = (i) => fields.u16(i * each + (wide2 ? 6 : 14));
  const finite = (value) => Number.isFinite(value) ? value : 0;
  return {
    count,
    isDynamic,
    isPlace: (i) => (info(i) & 15) !== SECTION && (info(i) & 15) !== FILE,
    isCode: (i) => (info(i) & 15) === 2 || (info(i) & 15) === 10,
    name: (i) => isDynamic ? written2(i) : splitVersion(written2(i))[0],
    address: (i) => finite(address(i)),
    size: (i) => finite(size(i)),
    symbol(i) {
      const [name, inName] = isDynamic ? [written2(i)] : splitVersion(written2(i));
      const version = versions?.of(i) ?? inName;
      const section = sectionOf(i);
      const type = symbolType(info(i) & 15);
      const binding = info(i) >> 4;
      const defined = section !== 0;
      return {
        name,
        ...version !== void 0 && { version },
        address: finite(address(i)),
        size: finite(size(i)),
        type,
        binding: BINDINGS[binding] ?? (binding === 10 ? "unique" : "other"),
        exported: isDynamic && defined && binding !== 0 && (visibility(i) === 0 || visibility(i) === 3),
        defined,
        hidden: defined && (versions?.hidden(i) ?? false)
      };
    },
    *located() {
      for (let i = 0; i < count; i++) {
        const type = info(i) & 15;
        const section = sectionOf(i);
        if (section === 0 || section === ABSOLUTE || section === COMMON) continue;
        if (type > 2 && type !== 10) continue;
        if (address(i) > 0 && Number.isFinite(address(i)) && fields.u32(i * each) !== 0) yield i;
      }
    }
  };
}
function symbolType(code) {
  return TYPES[code] ?? (code === 10 ? "ifunc" : "other");
}

// src/elf/elf.ts
var MOST_ZEROES = 1 << 28;
var Elf = class _Elf {
  constructor(source, path) {
    this.path = path;
    this.#source = source;
    try {
      this.#tables = readTables(source, path);
    } catch (error) {
      source.close();
      throw error;
    }
  }
  path;
  #source;
  #tables;
  #dynamic;
  #notes;
  #symbols;
  #relocations;
  #plt;
  #debug;
  /** Throws ELF_OPEN, ELF_KIND (not an ELF file) or ELF_BROKEN. */
  static open(path) {
    return new _Elf(fileSource(path), path);
  }
  static from(bytes, name = "memory") {
    return new _Elf(bytesSource(bytes), name);
  }
  close() {
    this.#source.close();
    this.#debug?.close();
  }
  /** Bytes in the file. */
  get size() {
    return this.#source.size;
  }
  get type() {
    switch (this.#tables.kind) {
      case 1:
        return "relocatable";
      case 2:
        return "executable";
      case 3:
        return this.dynamic.isPie || this.interpreter !== void 0 && this.soname === void 0 ? "pie" : "shared";
      case 4:
        return "core";
      default:
        return "other";
    }
  }
  get entry() {
    return this.#tables.entry;
  }
  get bits() {
    return this.#tables.wide ? 64 : 32;
  }
  get littleEndian() {
    return this.#tables.little;
  }
  /** "x86-64", "aarch64", … */
  get machine() {
    return machineName(this.#tables.machine);
  }
  get isX64() {
    return this.#tables.machine === 62 && this.#tables.wide && this.#tables.little;
  }
  get segments() {
    return this.#tables.segments;
  }
  /** May be empty: nothing needs section headers to run. */
  get sections() {
    return this.#tables.sections;
  }
  get problems() {
    return this.#tables.problems;
  }
  section(name) {
    return this.#tables.sections.find((section) => section.name === name);
  }
  /** What a section or segment holds: at most its size, less where the file ends; inflated, and zeroes of bss included. */
  bytes(part) {
    if ("memorySize" in part) {
      const kept = this.#source.read(part.offset, part.fileSize);
      return part.memorySize > kept.length ? this.#padded(kept, part.memorySize) : kept;
    }
    if (part.type === SHT_NOBITS) return this.#padded(new Uint8Array(), part.size);
    const bytes = this.#source.read(part.offset, part.size);
    return (part.flags & SHF_COMPRESSED) === 0 ? bytes : inflated(this.fields(bytes), this.path, part.name);
  }
  /** By virtual address, through the segments; undefined unless all of it is there. */
  bytesAt(address, length) {
    const segment = this.segmentAt(address);
    if (segment === void 0 || !(length >= 0 && address + length <= segment.address + segment.memorySize))
      return void 0;
    const from = address - segment.address;
    const kept = this.#source.read(
      segment.offset + from,
      Math.max(0, Math.min(length, segment.fileSize - from))
    );
    return kept.length === length ? kept : this.#padded(kept, length);
  }
  /** The segment that is mapped at an address. */
  segmentAt(address) {
    return this.segments.find(
      (part) => part.type === "load" && address >= part.address && address < part.address + part.memorySize
    );
  }
  /** Bytes as they lie in the file. */
  raw(offset, length) {
    return this.#source.read(offset, length);
  }
  /** Where in the file the byte of an address is; undefined for bss and for what is not mapped. */
  offsetOf(address) {
    const segment = this.segmentAt(address);
    if (segment === void 0 || address - segment.address >= segment.fileSize) return void 0;
    return segment.offset + (address - segment.address);
  }
  /** Bytes of this file as numbers of its width and byte order. */
  fields(bytes) {
    return new Fields(bytes, this.#tables.wide, this.#tables.little);
  }
  /** What the loader reads. */
  get dynamic() {
    this.#dynamic ??= readDynamic(this);
    return this.#dynamic;
  }
  get soname() {
    return this.dynamic.soname;
  }
  get needed() {
    return this.dynamic.needed;
  }
  get interpreter() {
    const segment = this.segments.find((part) => part.type === "interpreter");
    return segment && nameAt(this.#source.read(segment.offset, Math.min(segment.fileSize, 4096)), 0);
  }
  get notes() {
    this.#notes ??= readNotes(this);
    return this.#notes;
  }
  /** Lowercase hex. */
  get buildId() {
    const note = this.notes.find(({ owner, type }) => owner === "GNU" && type === 3);
    return note && Buffer.from(note.data).toString("hex");
  }
  /** Of the loader's table, the whole file's, .gnu_debugdata and the separate debug file. */
  get symbols() {
    this.#symbols ??= new SymbolTable(symbolSources(this));
    return this.#symbols;
  }
  /** What the loader fills in: which place belongs to which symbol. */
  get relocations() {
    this.#relocations ??= readRelocations(this);
    return this.#relocations;
  }
  /** Stubs that jump through such places. Empty unless x86-64. */
  get plt() {
    this.#plt ??= readPlt(this);
    return this.#plt;
  }
  /** The separate file with the same build id, or the one .gnu_debuglink names, if its CRC is right. Closed with this one. */
  get debugFile() {
    if (this.#debug === void 0) this.#debug = openDebugFile(this, _Elf.open) ?? null;
    return this.#debug ?? void 0;
  }
  #padded(kept, length) {
    if (length - kept.length > MOST_ZEROES)
      throw new HermesError("ELF_BROKEN", {
        file: this.path,
        message: `${length} bytes are said to be zero`
      });
    const padded = new Uint8Array(length);
    padded.set(kept);
    return padded;
  }
};

// src/inspect/code.ts
import { Decoder, DecoderOptions, FlowControl, Instruction } from "iced-x86";
var Flow = {
  NEXT: 0,
  /** To `target`, always. */
  JUMP: 1,
  /** To `target`, or on. */
  BRANCH: 2,
  /** To wherever a register or memory says. */
  INDIRECT: 3,
  RETURN: 4,
  /** To `target` and back. */
  CALL: 5,
  CALL_INDIRECT: 6,
  SYSCALL: 7,
  /** Nowhere: a trap, or no instruction at all. */
  STOP: 8
};
var MOST_CODE = 1 << 30;
var MOST_REGIONS = 256;
var MachineCode = class {
  regions;
  instruction = new Instruction();
  #decoders = /* @__PURE__ */ new Map();
  #decoder;
  #region;
  #at = 0;
  /** Of the instruction that was decoded last. */
  address = 0;
  length = 0;
  flow = Flow.STOP;
  target = 0;
  /** The place that an indirect jump or call takes its target from, when the instruction names it; else 0. */
  slot = 0;
  constructor(elf) {
    this.regions = regionsOf(elf);
  }
  free() {
    for (const decoder of this.#decoders.values()) decoder.free();
    this.#decoders.clear();
    this.instruction.free();
  }
  regionAt(address) {
    const now = this.#region;
    if (now !== void 0 && address >= now.address && address < now.address + now.size) return now;
    return this.regions.find((region) => address >= region.address && address < region.address + region.size);
  }
  /** Goes on from an address; false when there is no code. */
  seek(address) {
    const region = this.regionAt(address);
    if (region === void 0) return false;
    if (region !== this.#region) {
      this.#region = region;
      this.#decoder = this.#decoders.get(region) ?? new Decoder(64, region.bytes, DecoderOptions.None);
      this.#decoders.set(region, this.#decoder);
    }
    this.#at = address - region.address;
    this.#decoder.position = this.#at;
    this.#decoder.ip = BigInt(address);
    return true;
  }
  /** Decodes the next instruction; false at the end of the code. */
  next() {
    const region = this.#region;
    const decoder = this.#decoder;
    if (region === void 0 || decoder === void 0 || this.#at >= region.size) return false;
    decoder.decodeOut(this.instruction);
    const from = this.#at;
    this.#at = decoder.position;
    this.address = region.address + from;
    this.length = this.#at - from;
    this.flow = FLOWS[this.instruction.flowControl];
    if (this.flow !== Flow.NEXT) this.#look(region.bytes, from);
    return true;
  }
  /** Targets are read from the bytes: numbers, where the decoder has bigints. */
  #look(bytes, from) {
    let at = from;
    while (isPrefix(bytes[at])) at++;
    const first = bytes[at];
    const end = from + this.length;
    this.slot = 0;
    if (this.flow === Flow.INDIRECT || this.flow === Flow.CALL_INDIRECT) {
      if ((bytes[at + 1] & 199) === 5) this.slot = this.address + this.length + wide(bytes, end);
    } else if (first === 232 || first === 233 || first === 15 && (bytes[at + 1] & 240) === 128)
      this.target = this.address + this.length + wide(bytes, end);
    else if (first === 235 || (first & 240) === 112 || (first & 252) === 224)
      this.target = this.address + this.length + (bytes[end - 1] << 24 >> 24);
    else if (this.flow === Flow.CALL)
      this.flow = first === 15 && (bytes[at + 1] === 5 || bytes[at + 1] === 52) ? Flow.SYSCALL : Flow.NEXT;
    else if (first === 205) this.flow = bytes[at + 1] === 128 ? Flow.SYSCALL : Flow.NEXT;
    else if (this.flow === Flow.BRANCH || this.flow === Flow.JUMP) this.flow = Flow.NEXT;
  }
};
var FLOWS = [];
{
  const flows = FLOWS;
  flows[FlowControl.Next] = Flow.NEXT;
  flows[FlowControl.UnconditionalBranch] = Flow.JUMP;
  flows[FlowControl.IndirectBranch] = Flow.INDIRECT;
  flows[FlowControl.ConditionalBranch] = Flow.BRANCH;
  flows[FlowControl.Return] = Flow.RETURN;
  flows[FlowControl.Call] = Flow.CALL;
  flows[FlowControl.IndirectCall] = Flow.CALL_INDIRECT;
  flows[FlowControl.Interrupt] = Flow.STOP;
  flows[FlowControl.XbeginXabortXend] = Flow.NEXT;
  flows[FlowControl.Exception] = Flow.STOP;
}
function isPrefix(byte) {
  return (byte & 240) === 64 || byte === 242 || byte === 243 || byte === 102 || byte === 46 || byte === 62;
}
var wide = (bytes, end) => bytes[end - 4] | bytes[end - 3] << 8 | bytes[end - 2] << 16 | bytes[end - 1] << 24;
function regionsOf(elf) {
  const sections = elf.sections.filter(
    ({ flags, type }) => (flags & SHF_EXECINSTR) !== 0 && (flags & SHF_ALLOC) !== 0 && type !== SHT_NOBITS
  );
  const parts = sections.length > 0 || elf.type === "relocatable" ? sections.map((part) => ({
    name: part.name,
    address: part.address,
    bytes: elf.raw(part.offset, part.size)
  })) : elf.segments.filter(({ type, flags }) => type === "load" && (flags & EXECUTE) !== 0).map((part) => ({ name: "", address: part.address, bytes: elf.raw(part.offset, part.fileSize) }));
  let left = MOST_CODE;
  const regions = [];
  for (const { name, address, bytes } of parts.sort((a, b) => a.address - b.address)) {
    const end = regions.at(-1) ? regions.at(-1).address + regions.at(-1).size : 0;
    left -= bytes.length;
    if (bytes.length === 0 || left < 0 || address < end || regions.length >= MOST_REGIONS) continue;
    regions.push({ name, address, size: bytes.length, bytes });
  }
  return regions;
}

// src/inspect/jump-tables.ts
import { Mnemonic, OpKind as OpKind2, Register as Register2, RegisterExt as RegisterExt2 } from "iced-x86";

// src/inspect/registers.ts
import { InstructionInfoFactory, OpAccess, OpKind, Register, RegisterExt } from "iced-x86";
var full = (register) => register === Register.None ? Register.None : RegisterExt.fullRegister(register);
function isImmediate(kind) {
  return kind >= OpKind.Immediate8 && kind <= OpKind.Immediate32to64;
}
var WRITES = /* @__PURE__ */ new Set([
  OpAccess.Write,
  OpAccess.CondWrite,
  OpAccess.ReadWrite,
  OpAccess.ReadCondWrite
]);
var factory = new InstructionInfoFactory();
function written(instruction) {
  const info = factory.info(instruction);
  const registers = [];
  for (const used of info.usedRegisters()) {
    if (WRITES.has(used.access)) registers.push(full(used.register));
    used.free();
  }
  info.free();
  return { registers, flags: instruction.rflagsModified !== 0 };
}

// src/inspect/jump-tables.ts
var MOST_ENTRIES2 = 4096;
var LONGEST_WAY = 6;
function jumpTable(elf, code, blocks, roots, block, inside) {
  const tracker = new Tracker();
  for (const { way, enters } of onlyWay(blocks, roots, block)) {
    code.seek(way.start);
    for (let i = 0; i < way.instructions && code.next(); i++) tracker.step(code);
    tracker.leave(enters);
  }
  const load = tracker.jump;
  if (load === void 0) return void 0;
  const targets = readTable(elf, load);
  if (targets === void 0 || !targets.every(inside)) return void 0;
  return { jump: tracker.jumpAt, table: load.table, targets };
}
function onlyWay(blocks, roots, last) {
  const ways = [{ way: last, enters: "end" }];
  for (let block = last; ways.length < LONGEST_WAY && !roots.includes(block.start); ) {
    const before2 = predecessors(blocks).get(block.start) ?? [];
    if (before2.length !== 1) break;
    const { from, kind } = before2[0];
    if (kind === "switch" || ways.some(({ way }) => way === from)) break;
    ways.unshift({ way: from, enters: kind });
    block = from;
  }
  return ways;
}
var known = /* @__PURE__ */ new WeakMap();
function predecessors(blocks) {
  const cached = known.get(blocks);
  if (cached !== void 0) return cached;
  const before2 = /* @__PURE__ */ new Map();
  for (const from of blocks.values())
    for (const { to, kind } of from.edges) before2.set(to, [...before2.get(to) ?? [], { from, kind }]);
  known.set(blocks, before2);
  return before2;
}
function readTable(elf, { table: table2, count, width, base }) {
  if (count > MOST_ENTRIES2 || isWritable(elf, table2, count * width)) return void 0;
  const bytes = elf.bytesAt(table2, count * width);
  if (bytes === void 0) return void 0;
  const fields = elf.fields(bytes);
  return Array.from({ length: count }, (_, i) => {
    if (base !== void 0) return base + fields.i32(i * 4);
    return width === 8 ? fields.u64(i * 8) : fields.u32(i * 4);
  });
}
function isWritable(elf, address, size) {
  const segment = elf.segmentAt(address);
  if (segment === void 0) return true;
  if ((segment.flags & WRITE) === 0) return false;
  const relro = elf.segments.find(({ type }) => type === "relro");
  return relro === void 0 || address < relro.address || address + size > relro.address + relro.memorySize;
}
var Tracker = class {
  #index = /* @__PURE__ */ new Map();
  /** Registers that hold an address of this file. */
  #address = /* @__PURE__ */ new Map();
  #loads = /* @__PURE__ */ new Map();
  /** Registers whose upper half is zero: what writes the lower half clears it. */
  #narrow = /* @__PURE__ */ new Set();
  #compared;
  #last = Mnemonic.INVALID;
  jump;
  jumpAt = 0;
  step(code) {
    const i = code.instruction;
    this.#last = i.mnemonic;
    if (code.flow === Flow.BRANCH) return;
    if (code.flow === Flow.INDIRECT) {
      this.jumpAt = code.address;
      this.jump = i.op0Kind === OpKind2.Register ? this.#loads.get(i.op0Register) : this.#load(i, 8);
      return;
    }
    const to = i.opCount > 0 && i.op0Kind === OpKind2.Register ? i.op0Register : Register2.None;
    const learned = this.#learn(i, to);
    const { registers, flags } = written(i);
    for (const register of registers) this.#forget(register);
    if (flags) this.#compared = void 0;
    if (code.flow === Flow.CALL || code.flow === Flow.CALL_INDIRECT || code.flow === Flow.SYSCALL)
      this.#forgetAll();
    if (to !== Register2.None && registers.includes(full(to)) && RegisterExt2.isGPR32(to))
      this.#narrow.add(full(to));
    learned?.();
  }
  /** What is known beyond a branch: how large the index can be. */
  leave(enters) {
    const compared = this.#compared;
    const op = this.#last;
    if (compared === void 0) return;
    const over = enters === "fall" ? op === Mnemonic.Ja : enters === "taken" && op === Mnemonic.Jbe;
    const atLeast = enters === "fall" ? op === Mnemonic.Jae : enters === "taken" && op === Mnemonic.Jb;
    const limit = over ? compared.bound.limit : atLeast ? compared.bound.limit - 1 : -1;
    if (limit >= 0 && limit < MOST_ENTRIES2) this.#index.set(compared.register, { ...compared.bound, limit });
  }
  /** What an instruction tells, to be remembered after what it overwrites is forgotten. */
  #learn(i, to) {
    if (to === Register2.None) return void 0;
    const target = full(to);
    const number = isImmediate(i.op1Kind) ? Number(i.immediate(1)) : void 0;
    const from = i.opCount > 1 && i.op1Kind === OpKind2.Register ? i.op1Register : Register2.None;
    switch (i.mnemonic) {
      case Mnemonic.Cmp: {
        if (number === void 0) return void 0;
        const bound = { limit: number, bits: RegisterExt2.size(to) * 8 };
        return () => {
          this.#compared = { register: target, bound };
        };
      }
      case Mnemonic.And:
        if (number === void 0 || number >= MOST_ENTRIES2 || RegisterExt2.size(to) < 4) return void 0;
        return () => this.#index.set(target, { limit: number, bits: 64 });
      case Mnemonic.Lea: {
        if (!i.isIpRelMemoryOperand) return void 0;
        const address = Number(i.ipRelMemoryAddress);
        return () => this.#address.set(target, address);
      }
      case Mnemonic.Add: {
        const load = this.#loads.get(target) ?? this.#loads.get(from);
        const base = this.#loads.has(target) ? this.#address.get(from) : this.#address.get(target);
        if (load?.width !== 4 || load.base !== void 0 || base === void 0 || RegisterExt2.size(to) !== 8)
          return void 0;
        return () => this.#loads.set(target, { ...load, base });
      }
      case Mnemonic.Mov:
      case Mnemonic.Movzx:
      case Mnemonic.Movsxd:
        return this.#move(i, to, from, number);
    }
    return void 0;
  }
  #move(i, to, from, number) {
    const target = full(to);
    if (RegisterExt2.size(to) < 4) return void 0;
    if (i.op1Kind === OpKind2.Memory) {
      const load2 = RegisterExt2.size(to) === 8 ? this.#load(i, i.mnemonic === Mnemonic.Movsxd ? 4 : 8) : void 0;
      return load2 && (() => this.#loads.set(target, load2));
    }
    if (number !== void 0) return () => this.#address.set(target, number);
    const bits = RegisterExt2.size(from) * 8;
    const bound = this.#index.get(full(from));
    const [address, load] = [this.#address.get(from), this.#loads.get(from)];
    if (bound !== void 0 && bits <= 32 && bound.bits >= bits && bound.limit < 2 ** (bits - 1))
      return () => this.#index.set(target, { limit: bound.limit, bits: 64 });
    if (bound !== void 0 && bits === 64) return () => this.#index.set(target, bound);
    if (address !== void 0) return () => this.#address.set(target, address);
    return load && (() => this.#loads.set(target, load));
  }
  /** table(,index,4) or (table,index,4), the index known as a whole. */
  #load(i, width) {
    if (i.memoryIndex === Register2.None || i.memoryIndexScale !== width) return void 0;
    const bound = this.#index.get(i.memoryIndex);
    if (bound === void 0 || !(bound.bits === 64 || bound.bits === 32 && this.#narrow.has(i.memoryIndex)))
      return void 0;
    const displacement = Number(i.memoryDisplacement);
    const base = i.memoryBase === Register2.None ? 0 : this.#address.get(i.memoryBase);
    if (base === void 0 || base !== 0 && displacement !== 0) return void 0;
    return { table: base + displacement, count: bound.limit + 1, width, base: void 0 };
  }
  #forget(register) {
    this.#index.delete(register);
    this.#address.delete(register);
    this.#loads.delete(register);
    this.#narrow.delete(register);
    if (this.#compared?.register === register) this.#compared = void 0;
  }
  #forgetAll() {
    this.#index.clear();
    this.#address.clear();
    this.#loads.clear();
    this.#narrow.clear();
    this.#compared = void 0;
  }
};

// src/inspect/unwind-ranges.ts
var MOST_ENTRIES3 = 4e6;
function unwindRanges(elf) {
  const frame = frameOf(elf);
  if (frame === void 0) return [];
  const { address: base, bytes } = frame;
  const fields = elf.fields(bytes);
  const kinds = /* @__PURE__ */ new Map();
  const ranges = [];
  let at = 0;
  for (let count = 0; count < MOST_ENTRIES3 && at + 8 <= bytes.length; count++) {
    const length = fields.u32(at);
    if (length === 0 || length >= 4294967280) break;
    const end = at + 4 + length;
    const id = fields.u32(at + 4);
    if (end > bytes.length || length < 4) break;
    if (id !== 0) {
      const home = at + 4 - id;
      if (!kinds.has(home)) kinds.set(home, home >= 0 ? kindAt(fields, home) : void 0);
      const kind = kinds.get(home);
      const range = kind && readRange(new Cursor(fields, at + 8, end, base), kind);
      if (range !== void 0) ranges.push(range);
    }
    at = end;
  }
  return ranges.sort((a, b) => a.start - b.start);
}
function frameOf(elf) {
  const section = elf.section(".eh_frame");
  if (section !== void 0) return { address: section.address, bytes: elf.bytes(section) };
  const header = elf.segments.find(({ type }) => type === "eh-frame");
  if (header === void 0) return void 0;
  const fields = elf.fields(mapped(elf, header.address, 12));
  if (fields.length < 12 || fields.u8(1) !== 27) return void 0;
  const address = header.address + 4 + fields.i32(4);
  return { address, bytes: mapped(elf, address, Infinity) };
}
var OMITTED = 255;
function kindAt(fields, at) {
  if (at + 9 > fields.length || fields.u32(at + 4) !== 0) return void 0;
  const end = Math.min(fields.length, at + 4 + fields.u32(at));
  const cursor = new Cursor(fields, at + 9, end, 0);
  const letters = cursor.text();
  cursor.number(1);
  cursor.number(9);
  if (fields.u8(at + 8) === 1) cursor.byte();
  else cursor.number(1);
  if (!letters.startsWith("z"))
    return { pointers: 0, handlers: void 0, hasLength: false, isSignal: false };
  cursor.number(1);
  let pointers = 0;
  let handlers;
  for (const letter of letters.slice(1)) {
    if (letter === "R") pointers = cursor.byte();
    else if (letter === "L") handlers = cursor.byte();
    else if (letter === "P") cursor.number(cursor.byte() & 15);
    else if (letter !== "S" && letter !== "B") return void 0;
  }
  return cursor.failed ? void 0 : { pointers, handlers, hasLength: true, isSignal: letters.includes("S") };
}
function readRange(cursor, kind) {
  const start = cursor.number(kind.pointers);
  const size = cursor.number(kind.pointers & 15);
  let handlers;
  if (kind.hasLength) {
    cursor.number(1);
    if (kind.handlers !== void 0 && kind.handlers !== OMITTED) handlers = cursor.pointer(kind.handlers);
  }
  if (cursor.failed || !(size > 0 && start > 0 && start + size < 2 ** 53)) return void 0;
  if (kind.isSignal) return { start: start + 1, size: size - 1 };
  return { start, size, ...handlers !== void 0 && { handlers } };
}
var Cursor = class {
  constructor(fields, at, end, base) {
    this.fields = fields;
    this.at = at;
    this.end = end;
    this.base = base;
  }
  fields;
  at;
  end;
  base;
  failed = false;
  byte() {
    if (this.at >= this.end) this.failed = true;
    return this.failed ? 0 : this.fields.u8(this.at++);
  }
  text() {
    let text = "";
    for (let byte = this.byte(); byte !== 0 && text.length < 32; byte = this.byte())
      text += String.fromCharCode(byte);
    return text;
  }
  /** A pointer that may be absent: zero before what it is relative to is added. */
  pointer(encoding) {
    const from = this.at;
    const value = this.number(encoding & 15);
    return value === 0 ? void 0 : value + ((encoding & 112) === 16 ? this.base + from : 0);
  }
  number(encoding) {
    const from = this.at;
    const value = this.#plain(encoding & 15);
    return (encoding & 112) === 16 ? value + this.base + from : value;
  }
  #plain(format) {
    if (format === 1 || format === 9) return this.#leb(format === 9);
    const size = SIZES[format];
    if (size === void 0 || this.at + size > this.end) this.failed = true;
    if (this.failed) return 0;
    const from = this.at;
    this.at += size;
    if (size === 2) return format === 10 ? this.fields.u16(from) << 16 >> 16 : this.fields.u16(from);
    if (size === 4) return format === 11 ? this.fields.i32(from) : this.fields.u32(from);
    return format === 12 ? this.fields.i64(from) : this.fields.u64(from);
  }
  #leb(signed) {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if ((byte & 128) !== 0) continue;
      return signed && (byte & 64) !== 0 ? value - 2 ** (shift + 7) : value;
    }
    this.failed = true;
    return 0;
  }
};
var SIZES = { 0: 8, 2: 2, 3: 4, 4: 8, 10: 2, 11: 4, 12: 8 };

// src/inspect/landing-pads.ts
var MOST_PADS = 1e4;
var OMITTED2 = 255;
function landingPads(elf, range) {
  if (range.handlers === void 0) return [];
  const bytes = mapped(elf, range.handlers, 1 << 20);
  const cursor = new Cursor(elf.fields(bytes), 0, bytes.length, range.handlers);
  const startEncoding = cursor.byte();
  const start = startEncoding === OMITTED2 ? range.start : cursor.number(startEncoding);
  if (cursor.byte() !== OMITTED2) cursor.number(1);
  const encoding = cursor.byte();
  const length = cursor.number(1);
  const end = cursor.at + length;
  const pads = /* @__PURE__ */ new Set();
  while (!cursor.failed && cursor.at < end && pads.size < MOST_PADS) {
    cursor.number(encoding);
    cursor.number(encoding);
    const pad = cursor.number(encoding);
    cursor.number(1);
    if (pad !== 0 && !cursor.failed) pads.add(start + pad);
  }
  return [...pads];
}

// src/inspect/cfg.ts
var MOST_ROUNDS = 12;
var MOST_INSTRUCTIONS = 2e6;
function controlFlow(elf, code, functions, of) {
  const end = of.address + of.size;
  const inside = (address) => address >= of.address && address < end;
  const unwind = functions.unwind.get(of.address);
  const entered = [
    ...unwind ? landingPads(elf, unwind) : [],
    ...functions.entrancesWithin(of.address, end)
  ].filter(inside);
  const roots = [.../* @__PURE__ */ new Set([of.address, ...entered])];
  let tables = /* @__PURE__ */ new Map();
  let blocks = build(code, of, roots, tables);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = /* @__PURE__ */ new Map();
    for (const block of blocks.values()) {
      if (block.end !== "unknown" && !block.edges.some(({ kind }) => kind === "switch")) continue;
      const table2 = jumpTable(elf, code, blocks, roots, block, inside);
      if (table2 !== void 0) found.set(table2.jump, table2);
    }
    if (same(found, tables)) return result(of, blocks, roots, tables);
    tables = found;
    blocks = build(code, of, roots, tables);
  }
  return result(of, build(code, of, roots, /* @__PURE__ */ new Map()), roots, /* @__PURE__ */ new Map());
}
function result(of, blocks, roots, tables) {
  const complete = [...blocks.values()].every(({ end }) => end !== "unknown");
  return { function: of, blocks, roots, tables: [...tables.values()], complete };
}
var same = (a, b) => a.size === b.size && [...a].every(([jump, table2]) => b.get(jump)?.targets.length === table2.targets.length);
function build(code, of, roots, tables) {
  const end = of.address + of.size;
  const inside = (address) => address >= of.address && address < end;
  const steps = /* @__PURE__ */ new Map();
  const leaders = new Set(roots);
  const open = [...roots];
  const lead = (address) => {
    if (!inside(address)) return;
    if (!steps.has(address)) open.push(address);
    leaders.add(address);
  };
  for (let from = open.pop(); from !== void 0 && steps.size < MOST_INSTRUCTIONS; from = open.pop()) {
    if (steps.has(from) || !code.seek(from)) continue;
    while (code.next() && inside(code.address) && !steps.has(code.address)) {
      const { address, length, flow, target, slot } = code;
      steps.set(address, { length, flow, target, slot });
      if (flow === Flow.JUMP || flow === Flow.BRANCH) lead(target);
      for (const to of tables.get(address)?.targets ?? []) lead(to);
      if (flow === Flow.BRANCH) leaders.add(address + length);
      if (flow === Flow.JUMP || flow === Flow.INDIRECT || flow === Flow.RETURN || flow === Flow.STOP) break;
    }
  }
  const blocks = /* @__PURE__ */ new Map();
  for (const start of [...leaders].sort((a, b) => a - b))
    if (steps.has(start)) blocks.set(start, blockAt(start, steps, leaders, tables, inside));
  return blocks;
}
function blockAt(start, steps, leaders, tables, inside) {
  const calls = [];
  let at = start;
  let instructions = 0;
  const done = (end, edges = []) => ({
    start,
    size: at - start,
    instructions,
    edges,
    calls,
    end
  });
  for (; ; ) {
    const step = steps.get(at);
    if (step === void 0) return done("stop");
    const here = at;
    at += step.length;
    instructions += 1;
    const onward = steps.has(at) ? [{ to: at, kind: "fall" }] : [];
    switch (step.flow) {
      case Flow.CALL:
        calls.push({ from: here, to: step.target });
        break;
      case Flow.CALL_INDIRECT:
        calls.push({ from: here, ...step.slot !== 0 && { slot: step.slot } });
        break;
      case Flow.JUMP:
        return inside(step.target) ? done("on", [{ to: step.target, kind: "jump" }]) : tail(done, calls, here, step.target);
      case Flow.BRANCH: {
        if (inside(step.target)) return done("on", [{ to: step.target, kind: "taken" }, ...onward]);
        calls.push({ from: here, to: step.target });
        return done("on", onward);
      }
      case Flow.INDIRECT: {
        const targets = tables.get(here)?.targets;
        if (targets === void 0 && step.slot !== 0) {
          calls.push({ from: here, slot: step.slot });
          return done("tail");
        }
        if (targets === void 0) return done("unknown");
        return done(
          "on",
          [...new Set(targets)].map((to) => ({ to, kind: "switch" }))
        );
      }
      case Flow.RETURN:
        return done("return");
      case Flow.STOP:
        return done("stop");
    }
    if (leaders.has(at) && steps.has(at)) return done("on", onward);
  }
}
function tail(done, calls, from, to) {
  calls.push({ from, to });
  return done("tail");
}

// src/inspect/go.ts
var MAGIC = [4294967280, 4294967281];
var MOST2 = 2e6;
function goFunctions(elf) {
  const section = elf.section(".gopclntab") ?? elf.section(".data.rel.ro.gopclntab");
  if (section === void 0 || elf.bits !== 64) return [];
  const bytes = elf.bytes(section);
  const fields = elf.fields(bytes);
  if (bytes.length < 72 || !MAGIC.includes(fields.u32(0)) || fields.u8(7) !== 8) return [];
  const count = fields.u64(8);
  const text = fields.u64(24) || (elf.section(".text")?.address ?? 0);
  const names = fields.u64(32);
  const table2 = fields.u64(64);
  if (!(count <= MOST2 && table2 + (count + 1) * 8 <= bytes.length)) return [];
  return Array.from({ length: count }, (_, i) => {
    const at = table2 + i * 8;
    const address = text + fields.u32(at);
    const size = Math.max(0, text + fields.u32(at + 8) - address);
    const record = table2 + fields.u32(at + 4);
    const name = record + 8 <= bytes.length ? nameAt(bytes, names + fields.u32(record + 4)) : void 0;
    return { address, size, ...name && { name } };
  });
}

// src/inspect/functions.ts
var SOURCES = [
  "entry",
  "symbol",
  "unwind",
  "plt",
  "array",
  "go",
  "call",
  "jump",
  "pointer",
  "prologue"
];
var MOST_FUNCTIONS = 2e6;
function recoverFunctions(elf, code, progress = () => {
}) {
  return new Recovery(elf, code, progress).run();
}
var Recovery = class {
  #elf;
  #code;
  #progress;
  #found = /* @__PURE__ */ new Map();
  #calls = [];
  #jumps = [];
  #unwind = /* @__PURE__ */ new Map();
  #starts = new Float64Array();
  constructor(elf, code, progress) {
    this.#elf = elf;
    this.#code = code;
    this.#progress = progress;
  }
  run() {
    this.#fromTables();
    this.#sweepAll();
    this.#fromPointers();
    this.#sweepAll();
    if (this.#fromShape()) this.#sweepAll();
    return this.#result();
  }
  #add(address, from, size = 0, name) {
    const known2 = this.#found.get(address);
    if (known2 !== void 0) {
      known2.from.add(from);
      if (from === "unwind" || known2.size === 0) known2.size = size || known2.size;
      if (name !== void 0) known2.name ??= name;
    } else if (this.#found.size < MOST_FUNCTIONS && this.#code.regionAt(address) !== void 0)
      this.#found.set(address, {
        size,
        from: /* @__PURE__ */ new Set([from]),
        swept: false,
        ...name !== void 0 && { name }
      });
  }
  #fromTables() {
    const elf = this.#elf;
    for (const { address, size, symbol } of elf.plt)
      this.#add(address, "plt", size, symbol === void 0 ? void 0 : `${symbol}@plt`);
    for (const { address, size } of elf.symbols.functions()) this.#add(address, "symbol", size);
    for (const range of unwindRanges(elf)) {
      if (/^\.i?plt/.test(this.#code.regionAt(range.start)?.name ?? "")) continue;
      this.#unwind.set(range.start, range);
      this.#add(range.start, "unwind", range.size);
    }
    for (const { address, size, name } of goFunctions(elf)) this.#add(address, "go", size, name);
    this.#add(elf.entry, "entry");
    for (const address of initialisers(elf)) this.#add(address, "array");
  }
  /** Goes through all code that is known to be some function's, until no new function turns up. */
  #sweepAll() {
    for (let round = 0; round < 32; round++) {
      this.#order();
      const open = [...this.#starts].filter((start) => !this.#found.get(start).swept);
      if (open.length === 0) return;
      const [calls, jumps] = [this.#calls.length, this.#jumps.length];
      open.forEach((start, i) => {
        if (i % 4096 === 0) this.#progress(i / open.length);
        this.#sweep(start);
      });
      this.#order();
      for (const { to } of this.#calls.slice(calls)) if (this.#owner(to) === void 0) this.#add(to, "call");
      for (const { to } of this.#jumps.slice(jumps)) if (this.#owner(to) === void 0) this.#add(to, "jump");
    }
  }
  #sweep(start) {
    const found = this.#found.get(start);
    found.swept = true;
    const code = this.#code;
    const region = code.regionAt(start);
    const limit = Math.min(this.#next(start), region.address + region.size);
    if (found.size === 0) found.size = this.#extent(start, limit);
    const end = Math.min(start + found.size, limit);
    code.seek(start);
    while (code.next() && code.address < end) {
      if (code.flow === Flow.NEXT) continue;
      if (code.flow === Flow.CALL) this.#calls.push({ from: code.address, to: code.target });
      else if ((code.flow === Flow.JUMP || code.flow === Flow.BRANCH) && (code.target < start || code.target >= end))
        this.#jumps.push({ from: code.address, to: code.target });
    }
  }
  /** Without a size: up to an end that no branch of the function itself leads over. */
  #extent(start, limit) {
    const code = this.#code;
    let reach = start;
    code.seek(start);
    while (code.next() && code.address < limit) {
      const after = code.address + code.length;
      if (code.flow === Flow.BRANCH && code.target < limit) reach = Math.max(reach, code.target);
      const ends = code.flow === Flow.RETURN || code.flow === Flow.STOP || code.flow === Flow.INDIRECT || code.flow === Flow.JUMP;
      if (code.flow === Flow.JUMP && code.target > code.address && code.target < after + 256 && code.target < limit)
        reach = Math.max(reach, code.target);
      if (ends && reach < after) return Math.min(after, limit) - start;
    }
    return limit - start;
  }
  /** Addresses kept in data: functions that are only ever called through a pointer. */
  #fromPointers() {
    this.#order();
    for (const { kind, addend } of this.#elf.relocations)
      if ((kind === "relative" || kind === "ifunc") && this.#owner(addend) === void 0)
        this.#add(addend, "pointer");
  }
  /** What no table and no call knows: code after the end of another function that begins as functions do. */
  #fromShape() {
    this.#order();
    const before2 = this.#found.size;
    const gaps = [];
    for (const region of this.#code.regions) {
      if (/^\.i?plt/.test(region.name)) continue;
      let at = region.address;
      for (const start of this.#starts) {
        if (start < at) {
          at = Math.max(at, start + this.#found.get(start).size);
          continue;
        }
        if (start >= region.address + region.size) break;
        if (start > at) gaps.push([at, start]);
        at = start + this.#found.get(start).size;
      }
      if (at < region.address + region.size) gaps.push([at, region.address + region.size]);
    }
    for (const [from, to] of gaps) this.#fromGap(from, to);
    return this.#found.size > before2;
  }
  #fromGap(from, to) {
    for (let at = from; at < to; ) {
      const region = this.#code.regionAt(at);
      const offset = at - region.address;
      if (isPrologue(region.bytes, offset)) {
        const size = this.#extent(at, to);
        this.#add(at, "prologue", size);
        at += Math.max(1, size);
      } else at += at % 16 === 0 || at === from ? Math.max(1, 16 - at % 16) : 1;
    }
  }
  #order() {
    if (this.#starts.length !== this.#found.size) this.#starts = Float64Array.from(this.#found.keys()).sort();
  }
  #next(start) {
    return this.#starts[this.#index(start) + 1] ?? Infinity;
  }
  /** The last start at or before an address. */
  #index(address) {
    const index = before(this.#starts, address);
    return this.#starts[index] === address ? index : index - 1;
  }
  #owner(address) {
    const start = this.#starts[this.#index(address)];
    return start !== void 0 && address < start + Math.max(1, this.#found.get(start).size) ? start : void 0;
  }
  #result() {
    this.#order();
    const { symbols } = this.#elf;
    const list = Array.from(this.#starts, (address) => {
      const found = this.#found.get(address);
      const symbol = found.from.has("symbol") ? symbols.at(address) : void 0;
      const name = symbol?.address === address ? symbol.name : found.name;
      return {
        address,
        size: found.size,
        ...name !== void 0 && { name },
        from: SOURCES.filter((source) => found.from.has(source))
      };
    });
    const within = /* @__PURE__ */ new Set();
    for (const { to } of this.#calls) if (!this.#found.has(to)) within.add(to);
    for (const { to } of this.#jumps) if (!this.#found.has(to)) within.add(to);
    const entrances = Float64Array.from(within).sort();
    return {
      list,
      calls: this.#calls.sort((a, b) => a.from - b.from),
      entrancesWithin: (from, to) => [...entrances.subarray(before(entrances, from), before(entrances, to))],
      unwind: this.#unwind,
      at: (address) => {
        const start = this.#owner(address);
        return start === void 0 ? void 0 : list[this.#index(start)];
      }
    };
  }
};
function before(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = low + high >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
function initialisers(elf) {
  const { values } = elf.dynamic;
  const single = [values.get(DT.INIT), values.get(DT.FINI)].filter((address) => address !== void 0);
  const arrays = [
    mapped(elf, values.get(DT.INIT_ARRAY), values.get(DT.INIT_ARRAYSZ)),
    mapped(elf, values.get(DT.FINI_ARRAY), values.get(DT.FINI_ARRAYSZ))
  ].flatMap((bytes) => {
    const fields = elf.fields(bytes);
    return Array.from({ length: Math.floor(bytes.length / 8) }, (_, i) => fields.u64(i * 8));
  });
  return [...single, ...arrays];
}
function isPrologue(bytes, at) {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  if (a === 243 && b === 15 && c === 30 && d === 250) return true;
  if (a === 85 && b === 72 && c === 137 && d === 229) return true;
  if (a === 65 && (b === 84 || b === 85 || b === 86 || b === 87) && (c === 65 || c === 85 || c === 83))
    return true;
  return a === 72 && b === 131 && c === 236 && d !== void 0 && d % 8 === 0;
}

// src/coverage/line-cursor.ts
var BadLines = class extends Error {
};
var LineCursor = class {
  #bytes;
  #view;
  at;
  end;
  constructor(bytes, at, end) {
    if (at < 0 || end > bytes.length || at > end) throw new BadLines("outside of the table");
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.end = end;
  }
  #take(length) {
    const at = this.at;
    if (!(length >= 0 && at + length <= this.end)) throw new BadLines("the table ends too soon");
    this.at += length;
    return at;
  }
  skip(length) {
    this.#take(length);
  }
  u8() {
    return this.#bytes[this.#take(1)];
  }
  i8() {
    return this.#view.getInt8(this.#take(1));
  }
  u16() {
    return this.#view.getUint16(this.#take(2), true);
  }
  u32() {
    return this.#view.getUint32(this.#take(4), true);
  }
  u64() {
    return Number(this.#view.getBigUint64(this.#take(8), true));
  }
  /** An offset: as wide as the table is. */
  offset(wide2) {
    return wide2 ? this.u64() : this.u32();
  }
  uleb() {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.u8();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    throw new BadLines("a number without end");
  }
  sleb() {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.u8();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return byte & 64 ? value - 2 ** (shift + 7) : value;
    }
    throw new BadLines("a number without end");
  }
  text() {
    const from = this.at;
    const zero = this.#bytes.indexOf(0, from);
    if (zero < 0 || zero >= this.end) throw new BadLines("a name without end");
    this.at = zero + 1;
    return decodeText(this.#bytes.subarray(from, zero));
  }
};

// src/coverage/line-header.ts
import { posix } from "node:path";
var MOST_NAMES = 1e5;
var CONTENT = { path: 1, directory: 2 };
var FORM = {
  block2: 3,
  block4: 4,
  data2: 5,
  data4: 6,
  data8: 7,
  string: 8,
  block: 9,
  block1: 10,
  data1: 11,
  strp: 14,
  udata: 15,
  data16: 30,
  lineStrp: 31
};
function readHeader(cursor, names) {
  const first = cursor.u32();
  const wide2 = first === 4294967295;
  const length = wide2 ? cursor.u64() : first;
  const end = cursor.at + length;
  if (!(end <= cursor.end)) throw new BadLines("a unit that ends behind the table");
  const version = cursor.u16();
  if (version < 2 || version > 5) throw new BadLines(`version ${version}`);
  if (version === 5) cursor.skip(2);
  const headerLength = cursor.offset(wide2);
  const program = cursor.at + headerLength;
  const leastInstruction = cursor.u8();
  if (version >= 4) cursor.skip(1);
  const isStatement = cursor.u8() !== 0;
  const lineBase = cursor.i8();
  const lineRange = cursor.u8();
  const opcodeBase = cursor.u8();
  if (lineRange === 0 || opcodeBase === 0 || !(program <= end)) throw new BadLines("a broken header");
  const operands = Array.from({ length: opcodeBase - 1 }, () => cursor.u8());
  const files = version === 5 ? filesOf5(cursor, wide2, names) : filesOf4(cursor);
  return {
    wide: wide2,
    leastInstruction,
    isStatement,
    lineBase,
    lineRange,
    opcodeBase,
    operands,
    files,
    program,
    end
  };
}
function filesOf4(cursor) {
  const folders = [""];
  for (let name = cursor.text(); name !== ""; name = cursor.text()) push(folders, name);
  const files = [""];
  for (let name = cursor.text(); name !== ""; name = cursor.text()) {
    const folder = folders[cursor.uleb()] ?? "";
    cursor.uleb();
    cursor.uleb();
    push(files, posix.join(folder, name));
  }
  return files;
}
function filesOf5(cursor, wide2, names) {
  const folders = entries(cursor, wide2, names).map(({ path }) => path);
  const [root = ""] = folders;
  const whole = folders.map((folder) => posix.resolve("/", root, folder));
  return entries(cursor, wide2, names).map(
    ({ path, directory }) => path.startsWith("/") ? path : posix.join(whole[directory] ?? root, path)
  );
}
function entries(cursor, wide2, names) {
  const format = Array.from({ length: cursor.u8() }, () => [cursor.uleb(), cursor.uleb()]);
  const count = cursor.uleb();
  const all = [];
  for (let i = 0; i < count && format.length > 0; i++) {
    const entry = { path: "", directory: 0 };
    for (const [content, form] of format) {
      const value = formValue(cursor, form, wide2, names);
      if (content === CONTENT.path) entry.path = String(value);
      else if (content === CONTENT.directory) entry.directory = Number(value);
    }
    push(all, entry);
  }
  return all;
}
function push(list, entry) {
  if (list.length >= MOST_NAMES) throw new BadLines("too many files");
  list.push(entry);
}
function formValue(cursor, form, wide2, names) {
  switch (form) {
    case FORM.string:
      return cursor.text();
    case FORM.lineStrp:
      return nameAt(names.lineStrings, cursor.offset(wide2)) ?? "";
    case FORM.strp:
      return nameAt(names.strings, cursor.offset(wide2)) ?? "";
    case FORM.udata:
      return cursor.uleb();
    case FORM.data1:
      return cursor.u8();
    case FORM.data2:
      return cursor.u16();
    case FORM.data4:
      return cursor.u32();
    case FORM.data8:
      return cursor.u64();
    case FORM.data16:
      cursor.skip(16);
      return 0;
    case FORM.block:
      cursor.skip(cursor.uleb());
      return 0;
    case FORM.block1:
      cursor.skip(cursor.u8());
      return 0;
    case FORM.block2:
      cursor.skip(cursor.u16());
      return 0;
    case FORM.block4:
      cursor.skip(cursor.u32());
      return 0;
    default:
      throw new BadLines(`form 0x${form.toString(16)}`);
  }
}

// src/coverage/lines.ts
var MOST_ROWS = 2e7;
function lineRanges(elf) {
  const file = elf.section(".debug_line") ? elf : elf.debugFile;
  const section = file?.section(".debug_line");
  if (!file || !section) return [];
  const bytes = file.bytes(section);
  const part = (name) => {
    const found = file.section(name);
    return found ? file.bytes(found) : new Uint8Array();
  };
  const names = { strings: part(".debug_str"), lineStrings: part(".debug_line_str") };
  const ranges = [];
  let rows = 0;
  for (let at = 0; at < bytes.length && rows < MOST_ROWS; ) {
    const unit = readUnit(bytes, at, names);
    if (!unit) break;
    for (const range of unit.ranges) {
      rows += range.rows.length;
      ranges.push(range);
    }
    at = unit.end;
  }
  return ranges.sort((a, b) => a.rows[0].address - b.rows[0].address);
}
function readUnit(bytes, at, names) {
  const end = unitEnd(bytes, at);
  if (end === void 0) return void 0;
  try {
    const header = readHeader(new LineCursor(bytes, at, bytes.length), names);
    return { ranges: runProgram(new LineCursor(bytes, header.program, header.end), header), end };
  } catch (error) {
    if (!(error instanceof BadLines) && !(error instanceof RangeError)) throw error;
    return { ranges: [], end };
  }
}
function unitEnd(bytes, at) {
  try {
    const cursor = new LineCursor(bytes, at, bytes.length);
    const first = cursor.u32();
    const length = first === 4294967295 ? cursor.u64() : first;
    cursor.skip(length);
    return cursor.at;
  } catch {
    return void 0;
  }
}
var STANDARD = {
  copy: 1,
  advancePc: 2,
  advanceLine: 3,
  setFile: 4,
  negateStatement: 6,
  constAddPc: 8,
  fixedAdvancePc: 9
};
var EXTENDED = { endSequence: 1, setAddress: 2 };
function runProgram(cursor, header) {
  const ranges = [];
  let rows = [];
  let address = 0;
  let file = 1;
  let line = 1;
  let isStatement = header.isStatement;
  const row = () => rows.push({ address, file: header.files[file] ?? "", line, isStatement });
  const advance = (operations) => {
    address += operations * header.leastInstruction;
  };
  while (cursor.at < cursor.end) {
    const opcode = cursor.u8();
    if (opcode >= header.opcodeBase) {
      const special = opcode - header.opcodeBase;
      advance(Math.floor(special / header.lineRange));
      line += header.lineBase + special % header.lineRange;
      row();
    } else if (opcode === 0) {
      const next = cursor.uleb() + cursor.at;
      const extended = cursor.u8();
      if (extended === EXTENDED.setAddress) address = next - cursor.at === 8 ? cursor.u64() : cursor.u32();
      else if (extended === EXTENDED.endSequence) {
        if (rows.length > 0 && rows[0].address !== 0) ranges.push({ rows, end: address });
        rows = [];
        [address, file, line, isStatement] = [0, 1, 1, header.isStatement];
      }
      cursor.skip(next - cursor.at);
    } else if (opcode === STANDARD.copy) row();
    else if (opcode === STANDARD.advancePc) advance(cursor.uleb());
    else if (opcode === STANDARD.advanceLine) line += cursor.sleb();
    else if (opcode === STANDARD.setFile) file = cursor.uleb();
    else if (opcode === STANDARD.negateStatement) isStatement = !isStatement;
    else if (opcode === STANDARD.constAddPc)
      advance(Math.floor((255 - header.opcodeBase) / header.lineRange));
    else if (opcode === STANDARD.fixedAdvancePc) address += cursor.u16();
    else for (let i = 0; i < (header.operands[opcode - 1] ?? 0); i++) cursor.uleb();
  }
  return ranges;
}

// src/coverage/module.ts
var CoveredModule = class {
  constructor(path, buildId, functions, lines, left) {
    this.path = path;
    this.buildId = buildId;
    this.functions = functions;
    this.lines = lines;
    this.left = left;
  }
  path;
  buildId;
  functions;
  lines;
  left;
  #hits = /* @__PURE__ */ new Map();
  hit(address, times = 1) {
    this.#hits.set(address, (this.#hits.get(address) ?? 0) + times);
  }
  hits(address) {
    return this.#hits.get(address) ?? 0;
  }
};

// src/coverage/source-lines.ts
var SourceLines = class {
  #rows;
  constructor(ranges) {
    this.#rows = ranges.flatMap(({ rows }) => rows).filter(({ isStatement, line, file }) => isStatement && line > 0 && file !== "").sort((a, b) => a.address - b.address);
  }
  get isEmpty() {
    return this.#rows.length === 0;
  }
  /** The lines of which a statement begins in it. */
  placesOf({ address, size }) {
    const places = [];
    for (let i = this.#first(address); i < this.#rows.length; i++) {
      const row = this.#rows[i];
      if (row.address >= address + size) break;
      places.push(row);
    }
    return places;
  }
  #first(address) {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = low + high >>> 1;
      if (this.#rows[middle].address < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

// src/coverage/code-map.ts
var GUESSES = /* @__PURE__ */ new Set(["prologue", "pointer"]);
var LINKED = /* @__PURE__ */ new Set(["plt"]);
function mapCode(elf, path, unit) {
  const code = new MachineCode(elf);
  try {
    const functions = recoverFunctions(elf, code);
    const known2 = functions.list.filter(
      ({ from }) => !from.every((source) => GUESSES.has(source)) && !from.every((source) => LINKED.has(source))
    );
    const guessed = functions.list.filter(({ from }) => from.every((source) => GUESSES.has(source))).length;
    const owned = /* @__PURE__ */ new Set();
    const covered = known2.map((each) => {
      const blocks = unit === "functions" ? [{ address: each.address, size: each.size }] : blocksOf(code, controlFlow(elf, code, functions, each), each).filter(
        ({ address }) => claim(owned, address)
      );
      return {
        name: each.name ?? `0x${each.address.toString(16)}`,
        address: each.address,
        size: each.size,
        blocks
      };
    });
    return new CoveredModule(
      path,
      elf.buildId,
      covered.filter(({ blocks }) => blocks.length > 0),
      new SourceLines(lineRanges(elf)),
      guessed > 0 ? `${guessed} places that look like functions, but nothing leads to them` : void 0
    );
  } finally {
    code.free();
  }
}
function claim(owned, address) {
  if (owned.has(address)) return false;
  owned.add(address);
  return true;
}
function blocksOf(code, flow, of) {
  const parts = [];
  for (const { start, size, calls } of flow.blocks.values()) {
    const end = start + size;
    const starts = [start];
    for (const { from } of calls) {
      const next = code.seek(from) && code.next() ? from + code.length : end;
      if (next > starts.at(-1) && next < end) starts.push(next);
    }
    starts.forEach((address, i) => {
      parts.push({ address, size: (starts[i + 1] ?? end) - address });
    });
  }
  parts.sort((a, b) => a.address - b.address);
  const entry = parts.findIndex(({ address }) => address === of.address);
  return entry > 0 ? [parts[entry], ...parts.slice(0, entry), ...parts.slice(entry + 1)] : parts;
}

// src/coverage/report.ts
function reportModule(module) {
  const list = module.functions.map((each) => {
    const [place] = module.lines.placesOf(each.blocks[0]);
    return {
      name: each.name,
      address: each.address,
      size: each.size,
      hits: module.hits(each.address),
      ...place && { file: place.file, line: place.line },
      blocks: each.blocks.map((block) => [block.address, block.size, module.hits(block.address)])
    };
  });
  const sources = sourcesOf(module);
  return finish({
    path: module.path,
    ...module.buildId !== void 0 && { buildId: module.buildId },
    ...module.left !== void 0 && { left: module.left },
    list,
    ...sources && { sources }
  });
}
function sourcesOf(module) {
  if (module.lines.isEmpty) return void 0;
  const sources = /* @__PURE__ */ Object.create(null);
  const add = (block) => {
    const hits = module.hits(block.address);
    for (const { file, line } of module.lines.placesOf(block)) {
      sources[file] ??= /* @__PURE__ */ Object.create(null);
      const lines = sources[file];
      lines[line] = Math.max(lines[line] ?? 0, hits);
    }
  };
  for (const { blocks } of module.functions) for (const block of blocks) add(block);
  return sources;
}
function finish(module) {
  const lines = Object.values(module.sources ?? {}).flatMap((each) => Object.values(each));
  return {
    ...module,
    functions: share(module.list.map(({ hits }) => hits)),
    blocks: share(module.list.flatMap(({ blocks }) => blocks.map(([, , hits]) => hits))),
    ...module.sources && { lines: share(lines) }
  };
}
function share(hits) {
  return { found: hits.length, hit: hits.filter((count) => count > 0).length };
}

// ../ringtest/m.ts
var t0 = performance.now();
var m = mapCode(Elf.open(process.argv[2]), process.argv[2], "blocks");
var r = reportModule(m);
console.log(r.functions, r.blocks, r.lines, r.left, (performance.now() - t0).toFixed(0) + "ms");
if (process.argv[3]) for (const f of r.list) console.log(f.name, f.address.toString(16), f.blocks.map((b) => b[0].toString(16) + "+" + b[1]).join(" "), f.line);
if (process.argv[3]) console.log(JSON.stringify(r.sources));
