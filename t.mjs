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
  constructor(bytes, wide, little) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#little = little;
    this.wide = wide;
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
var SHT_SYMTAB = 2;
var SHT_NOBITS = 8;
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
  const wide = head[4] === 2;
  const little = head[5] === 1;
  if (!wide && head[4] !== 1) throw broken(`its class is ${head[4]}, neither 32 nor 64 bit`);
  if (!little && head[5] !== 2) throw broken(`its byte order is ${head[5]}, neither little nor big endian`);
  if (head.length < (wide ? 64 : 52)) throw broken("it ends within the header");
  const problems = [];
  const fields = new Fields(head, wide, little);
  const width = wide ? 8 : 4;
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
  const table2 = (at, length) => new Fields(source.read(at, length), wide, little);
  const sections = readSections(place, source.size, table2, problems);
  return {
    wide,
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
  const wide = all.wide;
  return {
    type: segmentType(all.u32(at)),
    flags: all.u32(at + (wide ? 4 : 24)),
    offset: all.word(at + (wide ? 8 : 4)),
    address: all.word(at + (wide ? 16 : 8)),
    fileSize: all.word(at + (wide ? 32 : 16)),
    memorySize: all.word(at + (wide ? 40 : 20))
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
      const wide = note.owner === "GNU" && type === PROPERTY && elf.bits === 64;
      at = dataAt + aligned(dataSize, wide ? 8 : 4);
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
    const entries = [];
    for (let at = 0; at + 6 <= bytes.length; at += size) {
      const jump = jumpIn(bytes, at, Math.min(size, bytes.length - at));
      if (jump === void 0) continue;
      const slot = section.address + jump + 6 + fields.i32(jump + 2);
      const relocation = slots.get(slot);
      if (relocation === void 0) continue;
      const { symbol, version } = relocation;
      entries.push({
        address: section.address + at,
        size,
        slot,
        ...symbol !== void 0 && { symbol },
        ...version !== void 0 && { version }
      });
    }
    return entries;
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
    const wide = elf.bits === 64;
    const each = (wide ? 16 : 8) + (withAddend ? wide ? 8 : 4 : 0);
    for (let at = 0; at + each <= bytes.length; at += each) {
      const type = wide ? fields.u32(at + (elf.littleEndian ? 8 : 12)) : fields.u32(at + 4) & 255;
      const index = wide ? fields.u32(at + (elf.littleEndian ? 12 : 8)) : fields.u32(at + 4) >>> 8;
      const addend = !withAddend ? 0 : wide ? fields.i64(at + 16) : fields.i32(at + 8);
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
function crc32(bytes, before = 0) {
  let crc = ~before;
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
      const known = byName.get(name);
      if (known === void 0) byName.set(name, [i]);
      else known.push(i);
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
    const known = /* @__PURE__ */ new Set();
    for (const table2 of this.#all())
      for (const index of indices(table2)) {
        const symbol = table2.source.symbol(index);
        const place = `${symbol.name} ${symbol.address} ${symbol.defined}`;
        const full = `${place} ${symbol.version ?? ""}`;
        if (known.has(full) || symbol.version === void 0 && known.has(place)) continue;
        known.add(full).add(place);
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
    const before = offset === 0 ? 0 : output.bytes[output.length - 1];
    const context = ((offset & this.#literalMask) << this.#contextBits) + (before >> 8 - this.#contextBits);
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
  const MAGIC = [253, 55, 122, 88, 90, 0];
  if (bytes.length < 24 || MAGIC.some((byte, i) => bytes[i] !== byte)) throw new Error("not an xz file");
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
  const wide = elf.bits === 64;
  const count = Math.floor(bytes.length / each);
  const versions = isDynamic ? readVersions(elf, count) : void 0;
  const written = (i) => nameAt(strings, fields.u32(i * each)) ?? "";
  const address = (i) => fields.word(i * each + (wide ? 8 : 4));
  const size = (i) => fields.word(i * each + (wide ? 16 : 8));
  const info = (i) => fields.u8(i * each + (wide ? 4 : 12));
  const visibility = (i) => fields.u8(i * each + (wide ? 5 : 13)) & 3;
  const sectionOf = (i) => fields.u16(i * each + (wide ? 6 : 14));
  const finite = (value) => Number.isFinite(value) ? value : 0;
  return {
    count,
    isDynamic,
    isPlace: (i) => (info(i) & 15) !== SECTION && (info(i) & 15) !== FILE,
    isCode: (i) => (info(i) & 15) === 2 || (info(i) & 15) === 10,
    name: (i) => isDynamic ? written(i) : splitVersion(written(i))[0],
    address: (i) => finite(address(i)),
    size: (i) => finite(size(i)),
    symbol(i) {
      const [name, inName] = isDynamic ? [written(i)] : splitVersion(written(i));
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

// src/process/unwind-reader.ts
var ENCODING = {
  absolute: 0,
  uleb: 1,
  u16: 2,
  u32: 3,
  u64: 4,
  sleb: 9,
  s16: 10,
  s32: 11,
  s64: 12
};
var RELATIVE = { none: 0, place: 16, data: 48, function: 64, aligned: 80 };
var OMITTED = 255;
var INDIRECT = 128;
var WORD = 2 ** 32;
var LONGEST_LEB = 10;
var LONGEST_TEXT = 64;
var BadTable = class extends Error {
};
var Bytes = class {
  view;
  address;
  constructor(bytes, address) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.address = address;
  }
  get length() {
    return this.view.byteLength;
  }
};
var Cursor = class _Cursor {
  bytes;
  at;
  end;
  constructor(bytes, at, end = bytes.length) {
    if (!(at >= 0 && at <= end && end <= bytes.length)) throw new BadTable("a table that ends too soon");
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }
  #take(length) {
    const { at } = this;
    if (!(length >= 0 && length <= this.end - at)) throw new BadTable("a table that ends too soon");
    this.at = at + length;
    return at;
  }
  get more() {
    return this.at < this.end;
  }
  skip(length) {
    this.#take(length);
  }
  u8() {
    return this.bytes.view.getUint8(this.#take(1));
  }
  u16() {
    return this.bytes.view.getUint16(this.#take(2), true);
  }
  s16() {
    return this.bytes.view.getInt16(this.#take(2), true);
  }
  u32() {
    return this.bytes.view.getUint32(this.#take(4), true);
  }
  s32() {
    return this.bytes.view.getInt32(this.#take(4), true);
  }
  u64() {
    const low = this.u32();
    return low + this.u32() * WORD;
  }
  s64() {
    const low = this.u32();
    return low + this.s32() * WORD;
  }
  uleb() {
    let value = 0;
    for (let i = 0, scale = 1; i < LONGEST_LEB; i++, scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new BadTable("a number without an end");
  }
  sleb() {
    let value = 0;
    for (let i = 0, scale = 1; i < LONGEST_LEB; i++, scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return byte & 64 ? value - scale * 128 : value;
    }
    throw new BadTable("a number without an end");
  }
  /** Text up to a zero byte. */
  text() {
    let text = "";
    for (let byte = this.u8(); byte !== 0; byte = this.u8()) {
      if (text.length >= LONGEST_TEXT) throw new BadTable("a text without an end");
      text += String.fromCharCode(byte);
    }
    return text;
  }
  /** A piece of the same bytes, and goes on behind it. */
  block(length) {
    const at = this.#take(length);
    return new _Cursor(this.bytes, at, at + length);
  }
  /** An address as the encoding says. Pointers to pointers are not followed: only language tables have them. */
  pointer(encoding, bases) {
    if (encoding & INDIRECT) throw new BadTable("a pointer to a pointer");
    if ((encoding & 112) === RELATIVE.aligned) this.skip(-(this.bytes.address + this.at) & 7);
    const place = this.bytes.address + this.at;
    const value = this.#encoded(encoding & 15);
    switch (encoding & 112) {
      case RELATIVE.none:
      case RELATIVE.aligned:
        return value;
      case RELATIVE.place:
        return place + value;
      case RELATIVE.data:
        return bases.data + value;
      case RELATIVE.function:
        return bases.function + value;
      default:
        throw new BadTable("a pointer that counts from an unknown place");
    }
  }
  #encoded(format) {
    switch (format) {
      case ENCODING.absolute:
      case ENCODING.u64:
        return this.u64();
      case ENCODING.uleb:
        return this.uleb();
      case ENCODING.u16:
        return this.u16();
      case ENCODING.u32:
        return this.u32();
      case ENCODING.sleb:
        return this.sleb();
      case ENCODING.s16:
        return this.s16();
      case ENCODING.s32:
        return this.s32();
      case ENCODING.s64:
        return this.s64();
      default:
        throw new BadTable("a pointer of an unknown form");
    }
  }
  /** Passes over a pointer that nobody wants, whatever it counts from. */
  skipPointer(encoding) {
    if (encoding === OMITTED) return;
    if ((encoding & 112) === RELATIVE.aligned) this.skip(-(this.bytes.address + this.at) & 7);
    this.#encoded(encoding & 15);
  }
};

// src/process/unwind-row.ts
var REGISTERS = 17;
var RETURN_ADDRESS = 16;
var MOST_REMEMBERED = 64;
var SAME = { kind: "same" };
var UNDEFINED = { kind: "undefined" };
function rowAt(part, address, data) {
  const run = new Program(part, address, { data, function: part.from });
  run.run(part.common.code());
  run.initialised();
  run.run(part.code());
  return run.row();
}
var Program = class {
  #part;
  #address;
  #bases;
  #location;
  #state = { cfaRegister: -1, cfaOffset: 0, cfaExpression: void 0, rules: [] };
  #initial = [];
  #remembered = [];
  constructor(part, address, bases) {
    this.#part = part;
    this.#address = address;
    this.#location = part.from;
    this.#bases = bases;
  }
  initialised() {
    this.#initial = [...this.#state.rules];
  }
  run(code) {
    while (code.more) {
      const op = code.u8();
      const low = op & 63;
      switch (op >> 6) {
        case 1:
          if (!this.#advance(this.#location + low * this.#part.common.codeAlign)) return;
          break;
        case 2:
          this.#offset(low, code.uleb() * this.#part.common.dataAlign);
          break;
        case 3:
          this.#set(low, this.#initial[low]);
          break;
        default:
          if (!this.#step(op, code)) return;
      }
    }
  }
  /** False when the address that is looked for lies before the new place: what holds now is what is wanted. */
  #advance(location) {
    if (location > this.#address) return false;
    this.#location = location;
    return true;
  }
  #set(register, rule) {
    if (register < REGISTERS) this.#state.rules[register] = rule;
  }
  #offset(register, offset) {
    this.#set(register, { kind: "offset", offset });
  }
  #expression(code) {
    return { code: code.block(code.uleb()) };
  }
  #step(op, code) {
    const { codeAlign, dataAlign, pointerEncoding } = this.#part.common;
    const state = this.#state;
    switch (op) {
      case 0:
        break;
      case 1:
        return this.#advance(code.pointer(pointerEncoding, this.#bases));
      case 2:
        return this.#advance(this.#location + code.u8() * codeAlign);
      case 3:
        return this.#advance(this.#location + code.u16() * codeAlign);
      case 4:
        return this.#advance(this.#location + code.u32() * codeAlign);
      case 5:
        this.#offset(code.uleb(), code.uleb() * dataAlign);
        break;
      case 6: {
        const register = code.uleb();
        this.#set(register, this.#initial[register]);
        break;
      }
      case 7:
        this.#set(code.uleb(), UNDEFINED);
        break;
      case 8:
        this.#set(code.uleb(), SAME);
        break;
      case 9:
        this.#set(code.uleb(), { kind: "register", register: code.uleb() });
        break;
      case 10:
        if (this.#remembered.length >= MOST_REMEMBERED) throw new BadTable("too much to remember");
        this.#remembered.push({ ...state, rules: [...state.rules] });
        break;
      case 11: {
        const before = this.#remembered.pop();
        if (!before) throw new BadTable("nothing to restore");
        this.#state = before;
        break;
      }
      case 12:
        this.#cfa(code.uleb(), code.uleb());
        break;
      case 13:
        this.#cfa(code.uleb(), state.cfaOffset);
        break;
      case 14:
        state.cfaOffset = code.uleb();
        break;
      case 15:
        state.cfaExpression = this.#expression(code);
        break;
      case 16:
        this.#set(code.uleb(), { kind: "expression", expression: this.#expression(code) });
        break;
      case 17:
        this.#offset(code.uleb(), code.sleb() * dataAlign);
        break;
      case 18:
        this.#cfa(code.uleb(), code.sleb() * dataAlign);
        break;
      case 19:
        state.cfaOffset = code.sleb() * dataAlign;
        break;
      case 20:
        this.#set(code.uleb(), { kind: "value-offset", offset: code.uleb() * dataAlign });
        break;
      case 21:
        this.#set(code.uleb(), { kind: "value-offset", offset: code.sleb() * dataAlign });
        break;
      case 22:
        this.#set(code.uleb(), { kind: "value-expression", expression: this.#expression(code) });
        break;
      case 46:
        code.uleb();
        break;
      case 47:
        this.#offset(code.uleb(), -code.uleb() * dataAlign);
        break;
      default:
        throw new BadTable(`an unknown instruction (${op})`);
    }
    return true;
  }
  #cfa(register, offset) {
    if (register >= REGISTERS) throw new BadTable("an unknown register");
    this.#state.cfaRegister = register;
    this.#state.cfaOffset = offset;
    this.#state.cfaExpression = void 0;
  }
  row() {
    const { cfaRegister, cfaOffset, cfaExpression, rules } = this.#state;
    if (cfaRegister < 0 && !cfaExpression) throw new BadTable("no frame address");
    const returns = this.#returnRule();
    rules[RETURN_ADDRESS] = returns;
    const saved = [];
    const others = [];
    rules.forEach((rule, register) => {
      if (rule?.kind === "offset" && Math.abs(rule.offset) < 2 ** 31) saved.push(register, rule.offset);
      else if (rule && rule.kind !== "same") others.push({ register, rule });
    });
    return {
      cfaRegister,
      cfaOffset,
      cfaExpression,
      saved: Int32Array.from(saved),
      others,
      isSignal: this.#part.common.isSignal,
      isOutermost: returns.kind === "undefined"
    };
  }
  /** The column of the return address need not be the last register. */
  #returnRule() {
    const { returnRegister } = this.#part.common;
    const rule = this.#state.rules[returnRegister];
    if (returnRegister !== RETURN_ADDRESS && (!rule || rule.kind === "same"))
      return { kind: "register", register: returnRegister };
    if (!rule || rule.kind === "same") throw new BadTable("no rule for the return address");
    return rule;
  }
};

// src/process/unwind-table.ts
var MOST_FUNCTIONS = 4e6;
var MOST_BYTES = 512 * 1024 * 1024;
var SORTED_TABLE = 59;
var WIDE = 4294967295;
var UnwindTable = class _UnwindTable {
  #parts;
  #rows = /* @__PURE__ */ new Map();
  constructor(parts) {
    this.#parts = parts;
  }
  /** What is broken, or not there, is done without. */
  static of(elf) {
    const parts = [];
    for (const open of [runtimeSection, (file) => debugSection(file, file), separateSection]) {
      const part = attempt(() => open(elf));
      if (part) parts.push(part);
    }
    return new _UnwindTable(parts);
  }
  /** How to unwind from an address; undefined when the tables do not say. */
  row(address) {
    let row = this.#rows.get(address);
    if (row === void 0) {
      row = this.#find(address);
      if (this.#rows.size >= MOST_ROWS) this.#rows.clear();
      this.#rows.set(address, row);
    }
    return row ?? void 0;
  }
  #find(address) {
    for (const part of this.#parts) {
      const row = attempt(() => part.row(address));
      if (row) return row;
    }
    return null;
  }
  /** The function that the tables say an address lies in, named or not. */
  functionAt(address) {
    for (const part of this.#parts) {
      const found = attempt(() => part.find(address));
      if (found) return { from: found.from, to: found.to };
    }
    return void 0;
  }
};
var MOST_ROWS = 5e4;
function attempt(read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadTable || error instanceof RangeError || isOurs(error)) return void 0;
    throw error;
  }
}
var isOurs = (error) => error instanceof Error && error.name === "HermesError";
function runtimeSection(elf) {
  const header = elf.segments.find(({ type }) => type === "eh-frame");
  const section = elf.section(".eh_frame");
  const bytes = header && elf.bytesAt(header.address, header.memorySize);
  if (header && bytes) {
    const table2 = new Bytes(bytes, header.address);
    const cursor = new Cursor(table2, 0);
    const [version, frames, counted, encoding] = [cursor.u8(), cursor.u8(), cursor.u8(), cursor.u8()];
    const bases = { data: header.address, function: 0 };
    if (version === 1 && frames !== OMITTED) {
      const at = cursor.pointer(frames, bases);
      const entries = frameBytes(elf, at, section?.address === at ? section.size : void 0);
      if (entries && encoding === SORTED_TABLE && counted !== OMITTED) {
        const count = cursor.pointer(counted, bases);
        if (count * 8 > table2.length - cursor.at) throw new BadTable("a table that ends too soon");
        return new FrameSection(entries, "runtime", header.address, new SortedTable(table2, cursor.at, count));
      }
      if (entries) return new FrameSection(entries, "runtime", header.address);
    }
  }
  if (!section) return void 0;
  return new FrameSection(new Bytes(elf.bytes(section), section.address), "runtime", header?.address ?? 0);
}
function frameBytes(elf, address, size) {
  const segment = elf.segmentAt(address);
  if (!segment) return void 0;
  const room = segment.address + segment.fileSize - address;
  const bytes = elf.bytesAt(address, Math.min(size ?? room, room, MOST_BYTES));
  return bytes && new Bytes(bytes, address);
}
function debugSection(elf, from) {
  const section = from.section(".debug_frame") ?? from.section(".zdebug_frame");
  if (!section || section.size === 0 || elf.bits !== 64) return void 0;
  return new FrameSection(new Bytes(from.bytes(section), 0), "debug", 0);
}
function separateSection(elf) {
  return elf.debugFile && debugSection(elf, elf.debugFile);
}
var SortedTable = class {
  constructor(bytes, at, count) {
    this.bytes = bytes;
    this.at = at;
    this.count = count;
  }
  bytes;
  at;
  count;
  /** Where the entry of the function lies that begins last before an address. */
  entryOf(address) {
    const { view, address: base } = this.bytes;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = low + high >>> 1;
      if (base + view.getInt32(this.at + middle * 8, true) <= address) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? void 0 : base + view.getInt32(this.at + (low - 1) * 8 + 4, true);
  }
};
var FrameSection = class {
  #bytes;
  #kind;
  #data;
  #sorted;
  #functions;
  #commons = /* @__PURE__ */ new Map();
  constructor(bytes, kind, data, sorted) {
    this.#bytes = bytes;
    this.#kind = kind;
    this.#data = data;
    this.#sorted = sorted;
  }
  row(address) {
    const part = this.find(address);
    return part && rowAt(part, address, this.#data);
  }
  find(address) {
    const at = this.#sorted ? subtract(this.#sorted.entryOf(address), this.#bytes.address) : this.#entryBefore(address);
    const part = at === void 0 ? void 0 : this.#entry(at);
    return part && address >= part.from && address < part.to ? part : void 0;
  }
  /** Where there is no sorted table, one is made. */
  #entryBefore(address) {
    this.#functions ??= this.#readAll();
    let low = 0;
    let high = this.#functions.length;
    while (low < high) {
      const middle = low + high >>> 1;
      if (this.#functions[middle].from <= address) low = middle + 1;
      else high = middle;
    }
    return this.#functions[low - 1]?.at;
  }
  /** What is broken ends the list, but not what was read before it. */
  #readAll() {
    const all = [];
    for (let at = 0; at + 4 <= this.#bytes.length && all.length < MOST_FUNCTIONS; ) {
      const length = attempt(() => this.#lengthAt(at));
      if (length === void 0 || length.size === 0) break;
      const part = attempt(() => this.#entry(at));
      if (part && part.from !== 0) all.push({ from: part.from, at });
      at = length.body + length.size;
    }
    return all.sort((a, b) => a.from - b.from);
  }
  #lengthAt(at) {
    const cursor = new Cursor(this.#bytes, at);
    const first = cursor.u32();
    const wide = first === WIDE;
    const size = wide ? cursor.u64() : first;
    if (size > cursor.end - cursor.at) throw new BadTable("an entry that ends too soon");
    return { body: cursor.at, size, wide };
  }
  /** The function that an FDE tells about; undefined when it is a CIE. */
  #entry(at) {
    const { body, size, wide } = this.#lengthAt(at);
    const cursor = new Cursor(this.#bytes, body, body + size);
    const id = wide && this.#kind === "debug" ? cursor.u64() : cursor.u32();
    if (this.#isCommon(id, wide)) return void 0;
    const common = this.#common(this.#kind === "debug" ? id : body - id);
    const bases = { data: this.#data, function: 0 };
    const from = cursor.pointer(common.pointerEncoding, bases);
    const to = from + cursor.pointer(common.pointerEncoding & 15, bases);
    if (common.hasAugmentation) cursor.skip(cursor.uleb());
    const start = cursor.at;
    return { common, from, to, code: () => new Cursor(this.#bytes, start, body + size) };
  }
  #isCommon(id, wide) {
    if (this.#kind === "runtime") return id === 0;
    return id === WIDE || wide && id >= WIDE * 2 ** 32;
  }
  #common(at) {
    const known = this.#commons.get(at);
    if (known) return known;
    const made = this.#readCommon(at);
    if (this.#commons.size < 1e4) this.#commons.set(at, made);
    return made;
  }
  #readCommon(at) {
    const { body, size, wide } = this.#lengthAt(at);
    const cursor = new Cursor(this.#bytes, body, body + size);
    const id = wide && this.#kind === "debug" ? cursor.u64() : cursor.u32();
    if (!this.#isCommon(id, wide)) throw new BadTable("an entry that is none");
    const version = cursor.u8();
    const augmentation = cursor.text();
    if (augmentation === "eh") cursor.skip(8);
    if (version >= 4 && this.#kind === "debug") cursor.skip(2);
    const codeAlign = cursor.uleb();
    const dataAlign = cursor.sleb();
    const returnRegister = version === 1 ? cursor.u8() : cursor.uleb();
    const more = readAugmentation(augmentation, cursor);
    const start = cursor.at;
    return {
      codeAlign,
      dataAlign,
      returnRegister,
      ...more,
      code: () => new Cursor(this.#bytes, start, body + size)
    };
  }
};
function readAugmentation(letters, cursor) {
  const found = { pointerEncoding: 0, isSignal: false, hasAugmentation: letters.startsWith("z") };
  if (!found.hasAugmentation) {
    if (letters !== "" && letters !== "eh") throw new BadTable(`an unknown augmentation "${letters}"`);
    return found;
  }
  const data = cursor.block(cursor.uleb());
  for (const letter of letters.slice(1)) {
    if (letter === "R") found.pointerEncoding = data.u8();
    else if (letter === "L") data.u8();
    else if (letter === "P") data.skipPointer(data.u8());
    else if (letter === "S") found.isSignal = true;
    else if (letter !== "B") break;
  }
  return found;
}
function subtract(value, by) {
  return value === void 0 ? void 0 : value - by;
}

// src/code/iced.ts
import { createRequire } from "node:module";
var loaded;
function iced() {
  loaded ??= createRequire(import.meta.url)("iced-x86");
  return loaded;
}

// src/ring/displace.ts
var DISPLACED_MOST = 4 + 15;
var STATUS_FLAGS = 63;
function displace(code, address, least) {
  const { Decoder, DecoderOptions, Instruction } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  try {
    decoder.ip = BigInt(address);
    let [length, isFixed, leaves, needsFlags, written] = [0, true, false, false, 0];
    while (length < least) {
      if (leaves) return "it is too short for a jump";
      if (!decoder.canDecode) return "its code ends too soon";
      decoder.decodeOut(instruction);
      const kind = kindOf(instruction);
      if (typeof kind === "string") return kind;
      length += instruction.length;
      leaves = kind.leaves;
      isFixed &&= kind.isFixed;
      needsFlags ||= (instruction.rflagsRead & ~written) !== 0;
      written |= instruction.rflagsModified;
    }
    const setsFlags = (written & STATUS_FLAGS) === STATUS_FLAGS;
    return { address, length, bytes: code.slice(0, length), isFixed, leaves, needsFlags, setsFlags };
  } finally {
    instruction.free();
    decoder.free();
  }
}
function kindOf(instruction) {
  const { FlowControl } = iced();
  if (instruction.isInvalid) return "its code cannot be decoded";
  const fixed = { leaves: false, isFixed: !instruction.isIpRelMemoryOperand };
  switch (instruction.flowControl) {
    case FlowControl.Next:
      return fixed;
    case FlowControl.ConditionalBranch:
      return { leaves: false, isFixed: false };
    case FlowControl.UnconditionalBranch:
      return { leaves: true, isFixed: false };
    case FlowControl.IndirectBranch:
    case FlowControl.Return:
      return { ...fixed, leaves: true };
    default:
      return "it begins with a call";
  }
}

// src/ring/targets.ts
var NEAR = 128;
function jumpedInto({ address, bytes }, guarded, functionAt) {
  if (guarded.length === 0) return /* @__PURE__ */ new Set();
  const owner = /* @__PURE__ */ new Map();
  const inside = new Uint8Array(bytes.length);
  for (const place of guarded)
    for (let at = place.address + 1; at < place.address + place.length; at++) {
      owner.set(at, place.address);
      inside[at - address] = 1;
    }
  const hit = /* @__PURE__ */ new Set();
  const mark = (target) => {
    const of = owner.get(target);
    if (of !== void 0) hit.add(of);
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 5 <= bytes.length; at++) {
    const byte = bytes[at];
    if ((byte & 254) !== 232 && ((byte & 240) !== 128 || bytes[at - 1] !== 15)) continue;
    const target = at + 5 + view.getInt32(at + 1, true);
    if (inside[target] === 1) mark(address + target);
  }
  const decoded = /* @__PURE__ */ new Set();
  for (const place of guarded)
    for (const near of [place.address, place.address - NEAR, place.address + place.length + NEAR]) {
      const range = functionAt(near);
      if (!range || decoded.has(range.from)) continue;
      decoded.add(range.from);
      for (const target of branches(bytes.subarray(range.from - address, range.to - address), range.from))
        mark(target);
    }
  return hit;
}
function branches(code, address) {
  const { Decoder, DecoderOptions, FlowControl, Instruction, OpKind } = iced();
  const decoding = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  const found = [];
  try {
    decoding.ip = BigInt(address);
    while (decoding.canDecode) {
      decoding.decodeOut(instruction);
      const flow = instruction.flowControl;
      const isBranch = flow === FlowControl.ConditionalBranch || flow === FlowControl.UnconditionalBranch || flow === FlowControl.Call;
      if (isBranch && instruction.op0Kind === OpKind.NearBranch64)
        found.push(Number(instruction.nearBranch64));
    }
    return found;
  } finally {
    instruction.free();
    decoding.free();
  }
}

// src/ring/syscall-sites.ts
var SYSCALL = 2;
var JUMP = 5;
var MOST_FOLLOWED = 64;
var NOTHING = new Uint8Array();
function syscallSites(code, functionAt) {
  const found = [];
  for (const offset of pairs(code.bytes)) {
    const address = code.address + offset;
    const range = functionAt(address);
    const previous = range && lengthBefore(code, range.from, address);
    if (previous === void 0) continue;
    const rest = code.bytes.subarray(offset + SYSCALL, range.to - code.address);
    const behind = displace(rest.subarray(0, DISPLACED_MOST), address + SYSCALL, JUMP - SYSCALL);
    if (isMovable(behind) && !behind.needsFlags && behind.setsFlags)
      found.push({ address, length: SYSCALL + behind.length, before: NOTHING, behind: behind.bytes });
    else if (forgetsFlags(rest)) found.push(...withBefore(code, address, previous));
  }
  const bad = jumpedInto(code, found, functionAt);
  return found.filter(({ address }) => !bad.has(address));
}
function isMovable(code) {
  return typeof code !== "string" && code.isFixed && !code.leaves;
}
function withBefore(code, address, previous) {
  const offset = address - previous - code.address;
  const before = displace(code.bytes.subarray(offset, offset + previous), address - previous, 1);
  if (previous + SYSCALL < JUMP || !isMovable(before)) return [];
  const site = { address: before.address, length: previous + SYSCALL, before: before.bytes, behind: NOTHING };
  return before.length === previous ? [site] : [];
}
function* pairs(bytes) {
  for (let at = bytes.indexOf(15); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(15, at + 1))
    if (bytes[at + 1] === 5) yield at;
}
function lengthBefore({ address, bytes }, from, wanted) {
  const { Decoder, DecoderOptions, Instruction } = iced();
  const code = bytes.subarray(from - address, wanted - address);
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const instruction = new Instruction();
  try {
    let [at, last] = [from, 0];
    while (at < wanted && decoder.canDecode) {
      decoder.decodeOut(instruction);
      if (instruction.isInvalid) return void 0;
      last = instruction.length;
      at += last;
    }
    return at === wanted ? last : void 0;
  } finally {
    instruction.free();
    decoder.free();
  }
}
function forgetsFlags(code) {
  const { Decoder, DecoderOptions, FlowControl, Instruction } = iced();
  const decoder = new Decoder(64, code.subarray(0, MOST_FOLLOWED), DecoderOptions.None);
  const instruction = new Instruction();
  try {
    let written = 0;
    while (decoder.canDecode) {
      decoder.decodeOut(instruction);
      const { flowControl, rflagsRead, rflagsModified } = instruction;
      if (flowControl === FlowControl.Return) return true;
      if (flowControl !== FlowControl.Next || (rflagsRead & ~written) !== 0) return false;
      written |= rflagsModified;
      if ((written & STATUS_FLAGS2) === STATUS_FLAGS2) return true;
    }
    return false;
  } finally {
    instruction.free();
    decoder.free();
  }
}
var STATUS_FLAGS2 = 63;

// ../ringtest/t.ts
for (const p of process.argv.slice(2)) {
  const elf = Elf.open(p);
  const t0 = performance.now();
  const tables = UnwindTable.of(elf);
  const text = elf.segments.find((s2) => s2.type === "load" && s2.flags & 1);
  const code = { address: text.address, bytes: elf.bytes(text) };
  let n = 0;
  for (let i = 0; i < code.bytes.length - 1; i++) if (code.bytes[i] === 15 && code.bytes[i + 1] === 5) n++;
  const s = syscallSites(code, (a) => tables.functionAt(a));
  console.log(p, code.bytes.length, "pairs", n, "sites", s.length, (performance.now() - t0).toFixed(0) + "ms");
}
