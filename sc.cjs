var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));

// src/text.ts
var import_node_buffer = require("node:buffer");
var { latin1Slice, utf8Slice } = Buffer.prototype;
function decodeText(bytes) {
  return (0, import_node_buffer.isUtf8)(bytes) ? utf8Slice.call(bytes, 0, bytes.length) : decodePieces(bytes);
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
var zlib = __toESM(require("node:zlib"), 1);
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
var import_node_path = require("node:path");

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
  const path = (0, import_node_path.join)(DEBUG_FOLDER, ".build-id", id.slice(0, 2), `${id.slice(2)}.debug`);
  return opened(path, open, (file) => file.buildId === id);
}
function byLink(elf, open) {
  const section = elf.section(".gnu_debuglink");
  if (section === void 0 || !(0, import_node_path.isAbsolute)(elf.path)) return void 0;
  const bytes = elf.bytes(section);
  const name = nameAt(bytes, 0);
  if (!name || name.includes("/") || bytes.length < 8) return void 0;
  const crc = elf.fields(bytes).u32(bytes.length - 4);
  const folder = (0, import_node_path.dirname)(elf.path);
  const places = [(0, import_node_path.join)(folder, name), (0, import_node_path.join)(folder, ".debug", name), (0, import_node_path.join)(DEBUG_FOLDER, folder, name)];
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
var import_node_fs = require("node:fs");
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
  const size = (0, import_node_fs.fstatSync)(fd).size;
  return {
    size,
    read: (offset, length) => {
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - offset)));
      return bytes.subarray(0, readFully(fd, bytes, offset));
    },
    close: () => {
      if (open) (0, import_node_fs.closeSync)(fd);
      open = false;
    }
  };
}
function openFile(path) {
  let fd;
  try {
    fd = (0, import_node_fs.openSync)(path, "r");
  } catch (error) {
    throw new HermesError("ELF_OPEN", { file: path, why: reason(error) }, { cause: error });
  }
  const stat = (0, import_node_fs.fstatSync)(fd);
  if (stat.isFile()) return fd;
  (0, import_node_fs.closeSync)(fd);
  throw new HermesError("ELF_OPEN", {
    file: path,
    why: stat.isDirectory() ? "it is a folder" : "it is not a regular file"
  });
}
function readFully(fd, bytes, offset) {
  let done = 0;
  while (done < bytes.length) {
    const count = (0, import_node_fs.readSync)(fd, bytes, done, bytes.length - done, offset + done);
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
var import_iced_x86 = require("iced-x86");
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
  instruction = new import_iced_x86.Instruction();
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
      this.#decoder = this.#decoders.get(region) ?? new import_iced_x86.Decoder(64, region.bytes, import_iced_x86.DecoderOptions.None);
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
  flows[import_iced_x86.FlowControl.Next] = Flow.NEXT;
  flows[import_iced_x86.FlowControl.UnconditionalBranch] = Flow.JUMP;
  flows[import_iced_x86.FlowControl.IndirectBranch] = Flow.INDIRECT;
  flows[import_iced_x86.FlowControl.ConditionalBranch] = Flow.BRANCH;
  flows[import_iced_x86.FlowControl.Return] = Flow.RETURN;
  flows[import_iced_x86.FlowControl.Call] = Flow.CALL;
  flows[import_iced_x86.FlowControl.IndirectCall] = Flow.CALL_INDIRECT;
  flows[import_iced_x86.FlowControl.Interrupt] = Flow.STOP;
  flows[import_iced_x86.FlowControl.XbeginXabortXend] = Flow.NEXT;
  flows[import_iced_x86.FlowControl.Exception] = Flow.STOP;
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

// src/inspect/unwind-ranges.ts
var MOST_ENTRIES2 = 4e6;
function unwindRanges(elf) {
  const frame = frameOf(elf);
  if (frame === void 0) return [];
  const { address: base, bytes } = frame;
  const fields = elf.fields(bytes);
  const kinds = /* @__PURE__ */ new Map();
  const ranges = [];
  let at = 0;
  for (let count = 0; count < MOST_ENTRIES2 && at + 8 <= bytes.length; count++) {
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
  #slotCalls = [];
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
      else if (code.slot !== 0 && (code.flow === Flow.CALL_INDIRECT || code.flow === Flow.INDIRECT))
        this.#slotCalls.push({ from: code.address, slot: code.slot });
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
      jumps: this.#jumps.sort((a, b) => a.from - b.from),
      slotCalls: this.#slotCalls,
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

// src/abi/syscalls.generated.ts
var SYSCALLS = JSON.parse(`[
{"nr":0,"name":"read","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"count","kind":"size","width":64}],"classes":["read","desc"],"returns":"count"},
{"nr":1,"name":"write","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"buffer","width":64,"length":2},{"name":"count","kind":"size","width":64}],"classes":["write","desc"],"returns":"count"},
{"nr":2,"name":"open","args":[{"name":"filename","kind":"path","width":64,"follow":"unless:1:131072","noFollowAll":"1:192","creates":true},{"name":"flags","kind":"flags","width":32,"flags":"open"},{"name":"mode","kind":"mode","width":32}],"classes":["file","open","create","desc"],"returns":"fd"},
{"nr":3,"name":"close","args":[{"name":"fd","kind":"fd","width":32}],"classes":["desc"],"returns":"zero"},
{"nr":4,"name":"stat","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"statbuf","kind":"struct","width":64,"direction":"out","struct":"stat","size":144}],"classes":["file","stat"],"returns":"zero"},
{"nr":5,"name":"fstat","args":[{"name":"fd","kind":"fd","width":32},{"name":"statbuf","kind":"struct","width":64,"direction":"out","struct":"stat","size":144}],"classes":["stat","desc"],"returns":"zero"},
{"nr":6,"name":"lstat","args":[{"name":"filename","kind":"path","width":64,"follow":"never"},{"name":"statbuf","kind":"struct","width":64,"direction":"out","struct":"stat","size":144}],"classes":["file","stat"],"returns":"zero"},
{"nr":7,"name":"poll","args":[{"name":"ufds","kind":"struct","width":64,"direction":"inout","length":1,"struct":"pollfd","size":8},{"name":"nfds","kind":"uint","width":32},{"name":"timeout","kind":"int","width":32}],"classes":["poll","desc"],"returns":"count"},
{"nr":8,"name":"lseek","args":[{"name":"fd","kind":"fd","width":32},{"name":"offset","kind":"offset","width":64},{"name":"whence","kind":"flags","width":32,"flags":"whence"}],"classes":["desc"],"returns":"offset"},
{"nr":9,"name":"mmap","args":[{"name":"addr","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"prot","kind":"flags","width":64,"flags":"mmap_prot"},{"name":"flags","kind":"flags","width":64,"flags":"mmap_flags"},{"name":"fd","kind":"fd","width":32},{"name":"off","kind":"offset","width":64}],"classes":["memory","desc"],"returns":"address"},
{"nr":10,"name":"mprotect","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"prot","kind":"flags","width":64,"flags":"mmap_prot"}],"classes":["memory"],"returns":"zero"},
{"nr":11,"name":"munmap","args":[{"name":"addr","kind":"address","width":64},{"name":"len","kind":"size","width":64}],"classes":["memory"],"returns":"zero"},
{"nr":12,"name":"brk","args":[{"name":"brk","kind":"address","width":64}],"classes":["memory"],"returns":"address"},
{"nr":13,"name":"rt_sigaction","args":[{"name":"sig","kind":"signal","width":32},{"name":"act","kind":"struct","width":64,"struct":"sigaction","size":32},{"name":"oact","kind":"struct","width":64,"direction":"out","struct":"sigaction","size":32},{"name":"sigsetsize","kind":"size","width":64}],"classes":["signal"],"returns":"zero"},
{"nr":14,"name":"rt_sigprocmask","args":[{"name":"how","kind":"flags","width":32,"flags":"sigprocmask"},{"name":"set","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"oset","kind":"struct","width":64,"direction":"out","struct":"sigset","size":8},{"name":"sigsetsize","kind":"size","width":64}],"classes":["signal"],"returns":"zero"},
{"nr":15,"name":"rt_sigreturn","args":[],"classes":["signal"],"returns":"never"},
{"nr":16,"name":"ioctl","args":[{"name":"fd","kind":"fd","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"ioctl"},{"name":"arg","kind":"address","width":64}],"classes":["desc"],"returns":"value"},
{"nr":17,"name":"pread64","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"count","kind":"size","width":64},{"name":"pos","kind":"offset","width":64}],"classes":["read","desc"],"returns":"count"},
{"nr":18,"name":"pwrite64","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"buffer","width":64,"length":2},{"name":"count","kind":"size","width":64},{"name":"pos","kind":"offset","width":64}],"classes":["write","desc"],"returns":"count"},
{"nr":19,"name":"readv","args":[{"name":"fd","kind":"fd","width":32},{"name":"vec","kind":"iovec","width":64,"direction":"out","length":2,"filled":"result"},{"name":"vlen","kind":"size","width":64}],"classes":["read","desc"],"returns":"count"},
{"nr":20,"name":"writev","args":[{"name":"fd","kind":"fd","width":32},{"name":"vec","kind":"iovec","width":64,"length":2},{"name":"vlen","kind":"size","width":64}],"classes":["write","desc"],"returns":"count"},
{"nr":21,"name":"access","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"mode","kind":"flags","width":32,"flags":"access"}],"classes":["file","stat"],"returns":"zero"},
{"nr":22,"name":"pipe","args":[{"name":"fildes","kind":"fds","width":64,"direction":"out"}],"classes":["desc","ipc"],"returns":"zero"},
{"nr":23,"name":"select","args":[{"name":"n","kind":"int","width":32},{"name":"inp","kind":"struct","width":64,"direction":"inout","struct":"fd_set","size":128},{"name":"outp","kind":"struct","width":64,"direction":"inout","struct":"fd_set","size":128},{"name":"exp","kind":"struct","width":64,"direction":"inout","struct":"fd_set","size":128},{"name":"tvp","kind":"struct","width":64,"direction":"inout","struct":"timeval","size":16}],"classes":["poll","desc"],"returns":"count"},
{"nr":24,"name":"sched_yield","args":[],"classes":["sched"],"returns":"zero"},
{"nr":25,"name":"mremap","args":[{"name":"addr","kind":"address","width":64},{"name":"old_len","kind":"size","width":64},{"name":"new_len","kind":"size","width":64},{"name":"flags","kind":"flags","width":64,"flags":"mremap"},{"name":"new_addr","kind":"address","width":64}],"classes":["memory"],"returns":"address"},
{"nr":26,"name":"msync","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"msync"}],"classes":["memory"],"returns":"zero"},
{"nr":27,"name":"mincore","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"vec","kind":"address","width":64,"direction":"out"}],"classes":["memory"],"returns":"zero"},
{"nr":28,"name":"madvise","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"behavior","kind":"flags","width":32,"flags":"madvise"}],"classes":["memory"],"returns":"zero"},
{"nr":29,"name":"shmget","args":[{"name":"key","kind":"int","width":32},{"name":"size","kind":"size","width":64},{"name":"flag","kind":"flags","width":32,"flags":"shmget"}],"classes":["ipc","memory"],"returns":"value"},
{"nr":30,"name":"shmat","args":[{"name":"shmid","kind":"int","width":32},{"name":"shmaddr","kind":"address","width":64},{"name":"shmflg","kind":"flags","width":32,"flags":"shmat"}],"classes":["ipc","memory"],"returns":"address"},
{"nr":31,"name":"shmctl","args":[{"name":"shmid","kind":"int","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"shmctl"},{"name":"buf","kind":"struct","width":64,"direction":"inout","struct":"shmid_ds","size":112}],"classes":["ipc"],"returns":"value"},
{"nr":32,"name":"dup","args":[{"name":"fildes","kind":"fd","width":32}],"classes":["desc"],"returns":"fd"},
{"nr":33,"name":"dup2","args":[{"name":"oldfd","kind":"fd","width":32},{"name":"newfd","kind":"fd","width":32}],"classes":["desc"],"returns":"fd"},
{"nr":34,"name":"pause","args":[],"classes":["signal"],"returns":"zero"},
{"nr":35,"name":"nanosleep","args":[{"name":"rqtp","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"rmtp","kind":"struct","width":64,"direction":"out","struct":"timespec","size":16}],"classes":["time"],"returns":"zero"},
{"nr":36,"name":"getitimer","args":[{"name":"which","kind":"flags","width":32,"flags":"itimer"},{"name":"value","kind":"struct","width":64,"direction":"out","struct":"itimerval","size":32}],"classes":["time"],"returns":"zero"},
{"nr":37,"name":"alarm","args":[{"name":"seconds","kind":"uint","width":32}],"classes":["time","signal"],"returns":"value"},
{"nr":38,"name":"setitimer","args":[{"name":"which","kind":"flags","width":32,"flags":"itimer"},{"name":"value","kind":"struct","width":64,"struct":"itimerval","size":32},{"name":"ovalue","kind":"struct","width":64,"direction":"out","struct":"itimerval","size":32}],"classes":["time","signal"],"returns":"zero"},
{"nr":39,"name":"getpid","args":[],"classes":["process"],"returns":"pid"},
{"nr":40,"name":"sendfile","args":[{"name":"out_fd","kind":"fd","width":32},{"name":"in_fd","kind":"fd","width":32},{"name":"offset","kind":"struct","width":64,"direction":"inout","struct":"loff_t","size":8},{"name":"count","kind":"size","width":64}],"classes":["read","write","desc","network"],"returns":"count"},
{"nr":41,"name":"socket","args":[{"name":"family","kind":"flags","width":32,"flags":"socket_family"},{"name":"type","kind":"flags","width":32,"flags":"socket_type"},{"name":"protocol","kind":"int","width":32}],"classes":["network","desc"],"returns":"fd"},
{"nr":42,"name":"connect","args":[{"name":"fd","kind":"fd","width":32},{"name":"addr","kind":"sockaddr","width":64,"length":2},{"name":"addrlen","kind":"size","width":32}],"classes":["network","connect","desc"],"returns":"zero"},
{"nr":43,"name":"accept","args":[{"name":"fd","kind":"fd","width":32},{"name":"addr","kind":"sockaddr","width":64,"direction":"out","length":2,"lengthIsPointer":true},{"name":"addrlen","kind":"struct","width":64,"direction":"inout","struct":"int","size":4}],"classes":["network","accept","desc"],"returns":"fd"},
{"nr":44,"name":"sendto","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"buffer","width":64,"length":2},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"msg"},{"name":"addr","kind":"sockaddr","width":64,"length":5},{"name":"addrlen","kind":"size","width":32}],"classes":["network","write","connect","desc"],"returns":"count"},
{"nr":45,"name":"recvfrom","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"msg"},{"name":"addr","kind":"sockaddr","width":64,"direction":"out","length":5,"lengthIsPointer":true},{"name":"addrlen","kind":"struct","width":64,"direction":"inout","struct":"int","size":4}],"classes":["network","read","desc"],"returns":"count"},
{"nr":46,"name":"sendmsg","args":[{"name":"fd","kind":"fd","width":32},{"name":"msg","kind":"msghdr","width":64},{"name":"flags","kind":"flags","width":32,"flags":"msg"}],"classes":["network","write","connect","desc"],"returns":"count"},
{"nr":47,"name":"recvmsg","args":[{"name":"fd","kind":"fd","width":32},{"name":"msg","kind":"msghdr","width":64,"direction":"inout","filled":"result"},{"name":"flags","kind":"flags","width":32,"flags":"msg"}],"classes":["network","read","desc"],"returns":"count"},
{"nr":48,"name":"shutdown","args":[{"name":"fd","kind":"fd","width":32},{"name":"how","kind":"flags","width":32,"flags":"shutdown"}],"classes":["network","desc"],"returns":"zero"},
{"nr":49,"name":"bind","args":[{"name":"fd","kind":"fd","width":32},{"name":"addr","kind":"sockaddr","width":64,"length":2},{"name":"addrlen","kind":"size","width":32}],"classes":["network","bind","desc"],"returns":"zero"},
{"nr":50,"name":"listen","args":[{"name":"fd","kind":"fd","width":32},{"name":"backlog","kind":"int","width":32}],"classes":["network","bind","desc"],"returns":"zero"},
{"nr":51,"name":"getsockname","args":[{"name":"fd","kind":"fd","width":32},{"name":"addr","kind":"sockaddr","width":64,"direction":"out","length":2,"lengthIsPointer":true},{"name":"addrlen","kind":"struct","width":64,"direction":"inout","struct":"int","size":4}],"classes":["network","desc"],"returns":"zero"},
{"nr":52,"name":"getpeername","args":[{"name":"fd","kind":"fd","width":32},{"name":"addr","kind":"sockaddr","width":64,"direction":"out","length":2,"lengthIsPointer":true},{"name":"addrlen","kind":"struct","width":64,"direction":"inout","struct":"int","size":4}],"classes":["network","desc"],"returns":"zero"},
{"nr":53,"name":"socketpair","args":[{"name":"family","kind":"flags","width":32,"flags":"socket_family"},{"name":"type","kind":"flags","width":32,"flags":"socket_type"},{"name":"protocol","kind":"int","width":32},{"name":"fds","kind":"fds","width":64,"direction":"out"}],"classes":["network","desc","ipc"],"returns":"zero"},
{"nr":54,"name":"setsockopt","args":[{"name":"fd","kind":"fd","width":32},{"name":"level","kind":"flags","width":32,"flags":"sockopt_level"},{"name":"optname","kind":"int","width":32},{"name":"optval","kind":"buffer","width":64,"length":4},{"name":"optlen","kind":"size","width":32}],"classes":["network","desc"],"returns":"zero"},
{"nr":55,"name":"getsockopt","args":[{"name":"fd","kind":"fd","width":32},{"name":"level","kind":"flags","width":32,"flags":"sockopt_level"},{"name":"optname","kind":"int","width":32},{"name":"optval","kind":"buffer","width":64,"direction":"out","length":4,"lengthIsPointer":true},{"name":"optlen","kind":"struct","width":64,"direction":"inout","struct":"int","size":4}],"classes":["network","desc"],"returns":"zero"},
{"nr":56,"name":"clone","args":[{"name":"clone_flags","kind":"flags","width":32,"flags":"clone"},{"name":"newsp","kind":"address","width":64},{"name":"parent_tidptr","kind":"address","width":64,"direction":"out"},{"name":"child_tidptr","kind":"address","width":64,"direction":"out"},{"name":"tls","kind":"address","width":64}],"classes":["process","namespace"],"returns":"pid"},
{"nr":57,"name":"fork","args":[],"classes":["process"],"returns":"pid"},
{"nr":58,"name":"vfork","args":[],"classes":["process"],"returns":"pid"},
{"nr":59,"name":"execve","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"argv","kind":"argv","width":64},{"name":"envp","kind":"argv","width":64}],"classes":["file","process","exec"],"returns":"zero"},
{"nr":60,"name":"exit","args":[{"name":"error_code","kind":"int","width":32}],"classes":["process"],"returns":"never"},
{"nr":61,"name":"wait4","args":[{"name":"pid","kind":"pid","width":32},{"name":"stat_addr","kind":"struct","width":64,"direction":"out","struct":"int","size":4},{"name":"options","kind":"flags","width":32,"flags":"wait"},{"name":"ru","kind":"struct","width":64,"direction":"out","struct":"rusage","size":144}],"classes":["process"],"returns":"pid"},
{"nr":62,"name":"kill","args":[{"name":"pid","kind":"pid","width":32},{"name":"sig","kind":"signal","width":32}],"classes":["signal","process"],"returns":"zero"},
{"nr":63,"name":"uname","args":[{"name":"name","kind":"struct","width":64,"direction":"out","struct":"new_utsname","size":390}],"classes":["system"],"returns":"zero"},
{"nr":64,"name":"semget","args":[{"name":"key","kind":"int","width":32},{"name":"nsems","kind":"int","width":32},{"name":"semflg","kind":"flags","width":32,"flags":"ipc_get"}],"classes":["ipc"],"returns":"value"},
{"nr":65,"name":"semop","args":[{"name":"semid","kind":"int","width":32},{"name":"sops","kind":"struct","width":64,"length":2,"struct":"sembuf","size":6},{"name":"nsops","kind":"uint","width":32}],"classes":["ipc"],"returns":"zero"},
{"nr":66,"name":"semctl","args":[{"name":"semid","kind":"int","width":32},{"name":"semnum","kind":"int","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"semctl"},{"name":"arg","kind":"address","width":64}],"classes":["ipc"],"returns":"value"},
{"nr":67,"name":"shmdt","args":[{"name":"shmaddr","kind":"address","width":64}],"classes":["ipc","memory"],"returns":"zero"},
{"nr":68,"name":"msgget","args":[{"name":"key","kind":"int","width":32},{"name":"msgflg","kind":"flags","width":32,"flags":"ipc_get"}],"classes":["ipc"],"returns":"value"},
{"nr":69,"name":"msgsnd","args":[{"name":"msqid","kind":"int","width":32},{"name":"msgp","kind":"address","width":64},{"name":"msgsz","kind":"size","width":64},{"name":"msgflg","kind":"flags","width":32,"flags":"msgrcv"}],"classes":["ipc","write"],"returns":"zero"},
{"nr":70,"name":"msgrcv","args":[{"name":"msqid","kind":"int","width":32},{"name":"msgp","kind":"address","width":64,"direction":"out"},{"name":"msgsz","kind":"size","width":64},{"name":"msgtyp","kind":"int","width":64},{"name":"msgflg","kind":"flags","width":32,"flags":"msgrcv"}],"classes":["ipc","read"],"returns":"count"},
{"nr":71,"name":"msgctl","args":[{"name":"msqid","kind":"int","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"msgctl"},{"name":"buf","kind":"struct","width":64,"direction":"inout","struct":"msqid_ds","size":120}],"classes":["ipc"],"returns":"value"},
{"nr":72,"name":"fcntl","args":[{"name":"fd","kind":"fd","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"fcntl"},{"name":"arg","kind":"address","width":64}],"classes":["desc"],"returns":"value"},
{"nr":73,"name":"flock","args":[{"name":"fd","kind":"fd","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"flock"}],"classes":["desc"],"returns":"zero"},
{"nr":74,"name":"fsync","args":[{"name":"fd","kind":"fd","width":32}],"classes":["desc"],"returns":"zero"},
{"nr":75,"name":"fdatasync","args":[{"name":"fd","kind":"fd","width":32}],"classes":["desc"],"returns":"zero"},
{"nr":76,"name":"truncate","args":[{"name":"path","kind":"path","width":64,"follow":"always"},{"name":"length","kind":"offset","width":64}],"classes":["file","write"],"returns":"zero"},
{"nr":77,"name":"ftruncate","args":[{"name":"fd","kind":"fd","width":32},{"name":"length","kind":"offset","width":64}],"classes":["write","desc"],"returns":"zero"},
{"nr":78,"name":"getdents","args":[{"name":"fd","kind":"fd","width":32},{"name":"dirent","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"count","kind":"size","width":32}],"classes":["read","desc"],"returns":"count"},
{"nr":79,"name":"getcwd","args":[{"name":"buf","kind":"buffer","width":64,"direction":"out","length":1,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["file"],"returns":"count"},
{"nr":80,"name":"chdir","args":[{"name":"filename","kind":"path","width":64,"follow":"always"}],"classes":["file"],"returns":"zero"},
{"nr":81,"name":"fchdir","args":[{"name":"fd","kind":"fd","width":32}],"classes":["desc"],"returns":"zero"},
{"nr":82,"name":"rename","args":[{"name":"oldname","kind":"path","width":64,"follow":"never"},{"name":"newname","kind":"path","width":64,"follow":"never","creates":true}],"classes":["file","rename"],"returns":"zero"},
{"nr":83,"name":"mkdir","args":[{"name":"pathname","kind":"path","width":64,"follow":"never","creates":true},{"name":"mode","kind":"mode","width":32}],"classes":["file","create"],"returns":"zero"},
{"nr":84,"name":"rmdir","args":[{"name":"pathname","kind":"path","width":64,"follow":"never"}],"classes":["file","delete"],"returns":"zero"},
{"nr":85,"name":"creat","args":[{"name":"pathname","kind":"path","width":64,"follow":"always","creates":true},{"name":"mode","kind":"mode","width":32}],"classes":["file","open","create","desc"],"returns":"fd"},
{"nr":86,"name":"link","args":[{"name":"oldname","kind":"path","width":64,"follow":"never"},{"name":"newname","kind":"path","width":64,"follow":"never","creates":true}],"classes":["file","link","create"],"returns":"zero"},
{"nr":87,"name":"unlink","args":[{"name":"pathname","kind":"path","width":64,"follow":"never"}],"classes":["file","delete"],"returns":"zero"},
{"nr":88,"name":"symlink","args":[{"name":"old","kind":"string","width":64},{"name":"new","kind":"path","width":64,"follow":"never","creates":true}],"classes":["file","link","create"],"returns":"zero"},
{"nr":89,"name":"readlink","args":[{"name":"path","kind":"path","width":64,"follow":"never"},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"bufsiz","kind":"size","width":32}],"classes":["file","stat"],"returns":"count"},
{"nr":90,"name":"chmod","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"mode","kind":"mode","width":32}],"classes":["file","metadata"],"returns":"zero"},
{"nr":91,"name":"fchmod","args":[{"name":"fd","kind":"fd","width":32},{"name":"mode","kind":"mode","width":32}],"classes":["metadata","desc"],"returns":"zero"},
{"nr":92,"name":"chown","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"user","kind":"uid","width":32},{"name":"group","kind":"gid","width":32}],"classes":["file","metadata"],"returns":"zero"},
{"nr":93,"name":"fchown","args":[{"name":"fd","kind":"fd","width":32},{"name":"user","kind":"uid","width":32},{"name":"group","kind":"gid","width":32}],"classes":["metadata","desc"],"returns":"zero"},
{"nr":94,"name":"lchown","args":[{"name":"filename","kind":"path","width":64,"follow":"never"},{"name":"user","kind":"uid","width":32},{"name":"group","kind":"gid","width":32}],"classes":["file","metadata"],"returns":"zero"},
{"nr":95,"name":"umask","args":[{"name":"mask","kind":"mode","width":32}],"classes":["process"],"returns":"value"},
{"nr":96,"name":"gettimeofday","args":[{"name":"tv","kind":"struct","width":64,"direction":"out","struct":"timeval","size":16},{"name":"tz","kind":"struct","width":64,"direction":"out","struct":"timezone","size":8}],"classes":["time"],"returns":"zero"},
{"nr":97,"name":"getrlimit","args":[{"name":"resource","kind":"flags","width":32,"flags":"rlimit"},{"name":"rlim","kind":"struct","width":64,"direction":"out","struct":"rlimit","size":16}],"classes":["process"],"returns":"zero"},
{"nr":98,"name":"getrusage","args":[{"name":"who","kind":"flags","width":32,"flags":"rusage"},{"name":"ru","kind":"struct","width":64,"direction":"out","struct":"rusage","size":144}],"classes":["process"],"returns":"zero"},
{"nr":99,"name":"sysinfo","args":[{"name":"info","kind":"struct","width":64,"direction":"out","struct":"sysinfo","size":112}],"classes":["system"],"returns":"zero"},
{"nr":100,"name":"times","args":[{"name":"tbuf","kind":"struct","width":64,"direction":"out","struct":"tms","size":32}],"classes":["time","process"],"returns":"value"},
{"nr":101,"name":"ptrace","args":[{"name":"request","kind":"flags","width":64,"flags":"ptrace"},{"name":"pid","kind":"pid","width":32},{"name":"addr","kind":"address","width":64},{"name":"data","kind":"address","width":64}],"classes":["ptrace","process"],"returns":"value"},
{"nr":102,"name":"getuid","args":[],"classes":["credential"],"returns":"value"},
{"nr":103,"name":"syslog","args":[{"name":"type","kind":"flags","width":32,"flags":"syslog"},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"len","kind":"size","width":32}],"classes":["system","kernel"],"returns":"count"},
{"nr":104,"name":"getgid","args":[],"classes":["credential"],"returns":"value"},
{"nr":105,"name":"setuid","args":[{"name":"uid","kind":"uid","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":106,"name":"setgid","args":[{"name":"gid","kind":"gid","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":107,"name":"geteuid","args":[],"classes":["credential"],"returns":"value"},
{"nr":108,"name":"getegid","args":[],"classes":["credential"],"returns":"value"},
{"nr":109,"name":"setpgid","args":[{"name":"pid","kind":"pid","width":32},{"name":"pgid","kind":"pid","width":32}],"classes":["process"],"returns":"zero"},
{"nr":110,"name":"getppid","args":[],"classes":["process"],"returns":"pid"},
{"nr":111,"name":"getpgrp","args":[],"classes":["process"],"returns":"pid"},
{"nr":112,"name":"setsid","args":[],"classes":["process"],"returns":"pid"},
{"nr":113,"name":"setreuid","args":[{"name":"ruid","kind":"uid","width":32},{"name":"euid","kind":"uid","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":114,"name":"setregid","args":[{"name":"rgid","kind":"gid","width":32},{"name":"egid","kind":"gid","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":115,"name":"getgroups","args":[{"name":"gidsetsize","kind":"int","width":32},{"name":"grouplist","kind":"struct","width":64,"direction":"out","length":0,"filled":"result","struct":"gid_t","size":4}],"classes":["credential"],"returns":"count"},
{"nr":116,"name":"setgroups","args":[{"name":"gidsetsize","kind":"int","width":32},{"name":"grouplist","kind":"struct","width":64,"length":0,"struct":"gid_t","size":4}],"classes":["credential"],"returns":"zero"},
{"nr":117,"name":"setresuid","args":[{"name":"ruid","kind":"uid","width":32},{"name":"euid","kind":"uid","width":32},{"name":"suid","kind":"uid","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":118,"name":"getresuid","args":[{"name":"ruid","kind":"struct","width":64,"direction":"out","struct":"uid_t","size":4},{"name":"euid","kind":"struct","width":64,"direction":"out","struct":"uid_t","size":4},{"name":"suid","kind":"struct","width":64,"direction":"out","struct":"uid_t","size":4}],"classes":["credential"],"returns":"zero"},
{"nr":119,"name":"setresgid","args":[{"name":"rgid","kind":"gid","width":32},{"name":"egid","kind":"gid","width":32},{"name":"sgid","kind":"gid","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":120,"name":"getresgid","args":[{"name":"rgid","kind":"struct","width":64,"direction":"out","struct":"gid_t","size":4},{"name":"egid","kind":"struct","width":64,"direction":"out","struct":"gid_t","size":4},{"name":"sgid","kind":"struct","width":64,"direction":"out","struct":"gid_t","size":4}],"classes":["credential"],"returns":"zero"},
{"nr":121,"name":"getpgid","args":[{"name":"pid","kind":"pid","width":32}],"classes":["process"],"returns":"pid"},
{"nr":122,"name":"setfsuid","args":[{"name":"uid","kind":"uid","width":32}],"classes":["credential"],"returns":"value"},
{"nr":123,"name":"setfsgid","args":[{"name":"gid","kind":"gid","width":32}],"classes":["credential"],"returns":"value"},
{"nr":124,"name":"getsid","args":[{"name":"pid","kind":"pid","width":32}],"classes":["process"],"returns":"pid"},
{"nr":125,"name":"capget","args":[{"name":"header","kind":"struct","width":64,"direction":"inout","struct":"cap_header","size":8},{"name":"dataptr","kind":"struct","width":64,"direction":"out","struct":"cap_data","size":24}],"classes":["credential"],"returns":"zero"},
{"nr":126,"name":"capset","args":[{"name":"header","kind":"struct","width":64,"struct":"cap_header","size":8},{"name":"data","kind":"struct","width":64,"struct":"cap_data","size":24}],"classes":["credential"],"returns":"zero"},
{"nr":127,"name":"rt_sigpending","args":[{"name":"set","kind":"struct","width":64,"direction":"out","struct":"sigset","size":8},{"name":"sigsetsize","kind":"size","width":64}],"classes":["signal"],"returns":"zero"},
{"nr":128,"name":"rt_sigtimedwait","args":[{"name":"uthese","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"uinfo","kind":"struct","width":64,"direction":"out","struct":"siginfo","size":128},{"name":"uts","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"sigsetsize","kind":"size","width":64}],"classes":["signal"],"returns":"value"},
{"nr":129,"name":"rt_sigqueueinfo","args":[{"name":"pid","kind":"pid","width":32},{"name":"sig","kind":"signal","width":32},{"name":"uinfo","kind":"struct","width":64,"struct":"siginfo","size":128}],"classes":["signal","process"],"returns":"zero"},
{"nr":130,"name":"rt_sigsuspend","args":[{"name":"unewset","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"sigsetsize","kind":"size","width":64}],"classes":["signal"],"returns":"zero"},
{"nr":131,"name":"sigaltstack","args":[{"name":"uss","kind":"struct","width":64,"struct":"stack","size":24},{"name":"uoss","kind":"struct","width":64,"direction":"out","struct":"stack","size":24}],"classes":["signal"],"returns":"zero"},
{"nr":132,"name":"utime","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"times","kind":"struct","width":64,"struct":"utimbuf","size":16}],"classes":["file","metadata"],"returns":"zero"},
{"nr":133,"name":"mknod","args":[{"name":"filename","kind":"path","width":64,"follow":"never","creates":true},{"name":"mode","kind":"mode","width":32},{"name":"dev","kind":"uint","width":32}],"classes":["file","create"],"returns":"zero"},
{"nr":134,"name":"uselib","args":[{"name":"library","kind":"path","width":64,"follow":"always"}],"classes":["file","exec"],"returns":"zero"},
{"nr":135,"name":"personality","args":[{"name":"personality","kind":"flags","width":32,"flags":"personality"}],"classes":["process"],"returns":"flags"},
{"nr":136,"name":"ustat","args":[{"name":"dev","kind":"uint","width":32},{"name":"ubuf","kind":"struct","width":64,"direction":"out","struct":"ustat","size":32}],"classes":["stat"],"returns":"zero"},
{"nr":137,"name":"statfs","args":[{"name":"path","kind":"path","width":64,"follow":"always"},{"name":"buf","kind":"struct","width":64,"direction":"out","struct":"statfs","size":120}],"classes":["file","stat"],"returns":"zero"},
{"nr":138,"name":"fstatfs","args":[{"name":"fd","kind":"fd","width":32},{"name":"buf","kind":"struct","width":64,"direction":"out","struct":"statfs","size":120}],"classes":["stat","desc"],"returns":"zero"},
{"nr":139,"name":"sysfs","args":[{"name":"option","kind":"int","width":32},{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64}],"classes":["system"],"returns":"value"},
{"nr":140,"name":"getpriority","args":[{"name":"which","kind":"flags","width":32,"flags":"priority"},{"name":"who","kind":"int","width":32}],"classes":["sched"],"returns":"value"},
{"nr":141,"name":"setpriority","args":[{"name":"which","kind":"flags","width":32,"flags":"priority"},{"name":"who","kind":"int","width":32},{"name":"niceval","kind":"int","width":32}],"classes":["sched"],"returns":"zero"},
{"nr":142,"name":"sched_setparam","args":[{"name":"pid","kind":"pid","width":32},{"name":"param","kind":"struct","width":64,"struct":"sched_param","size":4}],"classes":["sched"],"returns":"zero"},
{"nr":143,"name":"sched_getparam","args":[{"name":"pid","kind":"pid","width":32},{"name":"param","kind":"struct","width":64,"direction":"out","struct":"sched_param","size":4}],"classes":["sched"],"returns":"zero"},
{"nr":144,"name":"sched_setscheduler","args":[{"name":"pid","kind":"pid","width":32},{"name":"policy","kind":"flags","width":32,"flags":"sched_policy"},{"name":"param","kind":"struct","width":64,"struct":"sched_param","size":4}],"classes":["sched"],"returns":"zero"},
{"nr":145,"name":"sched_getscheduler","args":[{"name":"pid","kind":"pid","width":32}],"classes":["sched"],"returns":"value"},
{"nr":146,"name":"sched_get_priority_max","args":[{"name":"policy","kind":"flags","width":32,"flags":"sched_policy"}],"classes":["sched"],"returns":"value"},
{"nr":147,"name":"sched_get_priority_min","args":[{"name":"policy","kind":"flags","width":32,"flags":"sched_policy"}],"classes":["sched"],"returns":"value"},
{"nr":148,"name":"sched_rr_get_interval","args":[{"name":"pid","kind":"pid","width":32},{"name":"interval","kind":"struct","width":64,"direction":"out","struct":"timespec","size":16}],"classes":["sched"],"returns":"zero"},
{"nr":149,"name":"mlock","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64}],"classes":["memory"],"returns":"zero"},
{"nr":150,"name":"munlock","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64}],"classes":["memory"],"returns":"zero"},
{"nr":151,"name":"mlockall","args":[{"name":"flags","kind":"flags","width":32,"flags":"mlockall"}],"classes":["memory"],"returns":"zero"},
{"nr":152,"name":"munlockall","args":[],"classes":["memory"],"returns":"zero"},
{"nr":153,"name":"vhangup","args":[],"classes":["process"],"returns":"zero"},
{"nr":154,"name":"modify_ldt","args":[{"name":"func","kind":"int","width":32},{"name":"ptr","kind":"buffer","width":64,"direction":"inout","length":2},{"name":"bytecount","kind":"size","width":64}],"classes":["memory"],"returns":"count"},
{"nr":155,"name":"pivot_root","args":[{"name":"new_root","kind":"path","width":64,"follow":"always"},{"name":"put_old","kind":"path","width":64,"follow":"always"}],"classes":["file","mount"],"returns":"zero"},
{"nr":156,"name":"_sysctl","args":[{"name":"args","kind":"address","width":64,"direction":"inout"}],"classes":["kernel"],"returns":"value"},
{"nr":157,"name":"prctl","args":[{"name":"option","kind":"flags","width":32,"flags":"prctl"},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64},{"name":"arg5","kind":"address","width":64}],"classes":["process","credential"],"returns":"value"},
{"nr":158,"name":"arch_prctl","args":[{"name":"option","kind":"flags","width":32,"flags":"arch_prctl"},{"name":"arg2","kind":"address","width":64}],"classes":["process"],"returns":"value"},
{"nr":159,"name":"adjtimex","args":[{"name":"txc_p","kind":"struct","width":64,"direction":"inout","struct":"timex","size":208}],"classes":["time"],"returns":"value"},
{"nr":160,"name":"setrlimit","args":[{"name":"resource","kind":"flags","width":32,"flags":"rlimit"},{"name":"rlim","kind":"struct","width":64,"struct":"rlimit","size":16}],"classes":["process"],"returns":"zero"},
{"nr":161,"name":"chroot","args":[{"name":"filename","kind":"path","width":64,"follow":"always"}],"classes":["file","mount"],"returns":"zero"},
{"nr":162,"name":"sync","args":[],"classes":["system"],"returns":"zero"},
{"nr":163,"name":"acct","args":[{"name":"name","kind":"path","width":64,"follow":"always"}],"classes":["file","kernel"],"returns":"zero"},
{"nr":164,"name":"settimeofday","args":[{"name":"tv","kind":"struct","width":64,"struct":"timeval","size":16},{"name":"tz","kind":"struct","width":64,"struct":"timezone","size":8}],"classes":["time"],"returns":"zero"},
{"nr":165,"name":"mount","args":[{"name":"dev_name","kind":"path","width":64,"follow":"always"},{"name":"dir_name","kind":"path","width":64,"follow":"always"},{"name":"type","kind":"string","width":64},{"name":"flags","kind":"flags","width":64,"flags":"mount"},{"name":"data","kind":"address","width":64}],"classes":["file","mount"],"returns":"zero"},
{"nr":166,"name":"umount2","args":[{"name":"name","kind":"path","width":64,"follow":"unless:1:8"},{"name":"flags","kind":"flags","width":32,"flags":"umount"}],"classes":["file","mount"],"returns":"zero"},
{"nr":167,"name":"swapon","args":[{"name":"specialfile","kind":"path","width":64,"follow":"always"},{"name":"swap_flags","kind":"flags","width":32,"flags":"swapon"}],"classes":["file","kernel"],"returns":"zero"},
{"nr":168,"name":"swapoff","args":[{"name":"specialfile","kind":"path","width":64,"follow":"always"}],"classes":["file","kernel"],"returns":"zero"},
{"nr":169,"name":"reboot","args":[{"name":"magic1","kind":"int","width":32},{"name":"magic2","kind":"int","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"reboot"},{"name":"arg","kind":"address","width":64}],"classes":["kernel"],"returns":"zero"},
{"nr":170,"name":"sethostname","args":[{"name":"name","kind":"buffer","width":64,"length":1},{"name":"len","kind":"size","width":32}],"classes":["system"],"returns":"zero"},
{"nr":171,"name":"setdomainname","args":[{"name":"name","kind":"buffer","width":64,"length":1},{"name":"len","kind":"size","width":32}],"classes":["system"],"returns":"zero"},
{"nr":172,"name":"iopl","args":[{"name":"level","kind":"uint","width":32}],"classes":["kernel"],"returns":"zero"},
{"nr":173,"name":"ioperm","args":[{"name":"from","kind":"uint","width":64},{"name":"num","kind":"uint","width":64},{"name":"on","kind":"int","width":32}],"classes":["kernel"],"returns":"zero"},
{"nr":174,"name":"create_module","args":[{"name":"name","kind":"string","width":64},{"name":"size","kind":"size","width":64}],"classes":["kernel"],"returns":"address"},
{"nr":175,"name":"init_module","args":[{"name":"umod","kind":"buffer","width":64,"length":1},{"name":"len","kind":"size","width":64},{"name":"uargs","kind":"string","width":64}],"classes":["kernel"],"returns":"zero"},
{"nr":176,"name":"delete_module","args":[{"name":"name_user","kind":"string","width":64},{"name":"flags","kind":"flags","width":32,"flags":"delete_module"}],"classes":["kernel"],"returns":"zero"},
{"nr":177,"name":"get_kernel_syms","args":[{"name":"table","kind":"address","width":64,"direction":"out"}],"classes":["kernel"],"returns":"value"},
{"nr":178,"name":"query_module","args":[{"name":"name","kind":"string","width":64},{"name":"which","kind":"int","width":32},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":3},{"name":"bufsize","kind":"size","width":64},{"name":"ret","kind":"address","width":64,"direction":"out"}],"classes":["kernel"],"returns":"zero"},
{"nr":179,"name":"quotactl","args":[{"name":"cmd","kind":"uint","width":32},{"name":"special","kind":"path","width":64,"follow":"always"},{"name":"id","kind":"uint","width":32},{"name":"addr","kind":"address","width":64,"direction":"inout"}],"classes":["file","kernel"],"returns":"value"},
{"nr":180,"name":"nfsservctl","args":[{"name":"cmd","kind":"int","width":32},{"name":"argp","kind":"address","width":64},{"name":"resp","kind":"address","width":64,"direction":"out"}],"classes":["kernel"],"returns":"value"},
{"nr":181,"name":"getpmsg","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64},{"name":"arg5","kind":"address","width":64}],"classes":["network"],"returns":"value"},
{"nr":182,"name":"putpmsg","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64},{"name":"arg5","kind":"address","width":64}],"classes":["network"],"returns":"value"},
{"nr":183,"name":"afs_syscall","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64},{"name":"arg5","kind":"address","width":64}],"classes":["kernel"],"returns":"value"},
{"nr":184,"name":"tuxcall","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64}],"classes":["kernel"],"returns":"value"},
{"nr":185,"name":"security","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64}],"classes":["kernel"],"returns":"value"},
{"nr":186,"name":"gettid","args":[],"classes":["process"],"returns":"pid"},
{"nr":187,"name":"readahead","args":[{"name":"fd","kind":"fd","width":32},{"name":"offset","kind":"offset","width":64},{"name":"count","kind":"size","width":64}],"classes":["desc"],"returns":"zero"},
{"nr":188,"name":"setxattr","args":[{"name":"path","kind":"path","width":64,"follow":"always"},{"name":"name","kind":"string","width":64},{"name":"value","kind":"buffer","width":64,"length":3},{"name":"size","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"xattr"}],"classes":["file","metadata"],"returns":"zero"},
{"nr":189,"name":"lsetxattr","args":[{"name":"path","kind":"path","width":64,"follow":"never"},{"name":"name","kind":"string","width":64},{"name":"value","kind":"buffer","width":64,"length":3},{"name":"size","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"xattr"}],"classes":["file","metadata"],"returns":"zero"},
{"nr":190,"name":"fsetxattr","args":[{"name":"fd","kind":"fd","width":32},{"name":"name","kind":"string","width":64},{"name":"value","kind":"buffer","width":64,"length":3},{"name":"size","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"xattr"}],"classes":["metadata","desc"],"returns":"zero"},
{"nr":191,"name":"getxattr","args":[{"name":"path","kind":"path","width":64,"follow":"always"},{"name":"name","kind":"string","width":64},{"name":"value","kind":"buffer","width":64,"direction":"out","length":3,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["file","metadata"],"returns":"count"},
{"nr":192,"name":"lgetxattr","args":[{"name":"path","kind":"path","width":64,"follow":"never"},{"name":"name","kind":"string","width":64},{"name":"value","kind":"buffer","width":64,"direction":"out","length":3,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["file","metadata"],"returns":"count"},
{"nr":193,"name":"fgetxattr","args":[{"name":"fd","kind":"fd","width":32},{"name":"name","kind":"string","width":64},{"name":"value","kind":"buffer","width":64,"direction":"out","length":3,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["metadata","desc"],"returns":"count"},
{"nr":194,"name":"listxattr","args":[{"name":"path","kind":"path","width":64,"follow":"always"},{"name":"list","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["file","metadata"],"returns":"count"},
{"nr":195,"name":"llistxattr","args":[{"name":"path","kind":"path","width":64,"follow":"never"},{"name":"list","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["file","metadata"],"returns":"count"},
{"nr":196,"name":"flistxattr","args":[{"name":"fd","kind":"fd","width":32},{"name":"list","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["metadata","desc"],"returns":"count"},
{"nr":197,"name":"removexattr","args":[{"name":"path","kind":"path","width":64,"follow":"always"},{"name":"name","kind":"string","width":64}],"classes":["file","metadata"],"returns":"zero"},
{"nr":198,"name":"lremovexattr","args":[{"name":"path","kind":"path","width":64,"follow":"never"},{"name":"name","kind":"string","width":64}],"classes":["file","metadata"],"returns":"zero"},
{"nr":199,"name":"fremovexattr","args":[{"name":"fd","kind":"fd","width":32},{"name":"name","kind":"string","width":64}],"classes":["metadata","desc"],"returns":"zero"},
{"nr":200,"name":"tkill","args":[{"name":"pid","kind":"pid","width":32},{"name":"sig","kind":"signal","width":32}],"classes":["signal","process"],"returns":"zero"},
{"nr":201,"name":"time","args":[{"name":"tloc","kind":"struct","width":64,"direction":"out","struct":"time_t","size":8}],"classes":["time"],"returns":"value"},
{"nr":202,"name":"futex","args":[{"name":"uaddr","kind":"address","width":64,"direction":"inout"},{"name":"op","kind":"flags","width":32,"flags":"futex"},{"name":"val","kind":"uint","width":32},{"name":"utime","kind":"address","width":64},{"name":"uaddr2","kind":"address","width":64,"direction":"inout"},{"name":"val3","kind":"uint","width":32}],"classes":["ipc"],"returns":"value"},
{"nr":203,"name":"sched_setaffinity","args":[{"name":"pid","kind":"pid","width":32},{"name":"len","kind":"size","width":32},{"name":"user_mask_ptr","kind":"buffer","width":64,"length":1}],"classes":["sched"],"returns":"zero"},
{"nr":204,"name":"sched_getaffinity","args":[{"name":"pid","kind":"pid","width":32},{"name":"len","kind":"size","width":32},{"name":"user_mask_ptr","kind":"buffer","width":64,"direction":"out","length":1,"filled":"result"}],"classes":["sched"],"returns":"count"},
{"nr":205,"name":"set_thread_area","args":[{"name":"u_info","kind":"address","width":64,"direction":"inout"}],"classes":["process"],"returns":"zero"},
{"nr":206,"name":"io_setup","args":[{"name":"nr_reqs","kind":"uint","width":32},{"name":"ctx","kind":"struct","width":64,"direction":"inout","struct":"aio_context_t","size":8}],"classes":["memory","aio"],"returns":"zero"},
{"nr":207,"name":"io_destroy","args":[{"name":"ctx","kind":"address","width":64}],"classes":["memory","aio"],"returns":"zero"},
{"nr":208,"name":"io_getevents","args":[{"name":"ctx_id","kind":"address","width":64},{"name":"min_nr","kind":"int","width":64},{"name":"nr","kind":"int","width":64},{"name":"events","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"io_event","size":32},{"name":"timeout","kind":"struct","width":64,"struct":"timespec","size":16}],"classes":["aio"],"returns":"count"},
{"nr":209,"name":"io_submit","args":[{"name":"ctx_id","kind":"address","width":64},{"name":"nr","kind":"int","width":64},{"name":"iocbpp","kind":"address","width":64}],"classes":["aio","read","write"],"returns":"count"},
{"nr":210,"name":"io_cancel","args":[{"name":"ctx_id","kind":"address","width":64},{"name":"iocb","kind":"struct","width":64,"struct":"iocb","size":64},{"name":"result","kind":"struct","width":64,"direction":"out","struct":"io_event","size":32}],"classes":["aio"],"returns":"zero"},
{"nr":211,"name":"get_thread_area","args":[{"name":"u_info","kind":"address","width":64,"direction":"inout"}],"classes":["process"],"returns":"zero"},
{"nr":212,"name":"lookup_dcookie","args":[{"name":"cookie64","kind":"uint","width":64},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"len","kind":"size","width":64}],"classes":["kernel"],"returns":"count"},
{"nr":213,"name":"epoll_create","args":[{"name":"size","kind":"int","width":32}],"classes":["poll","desc"],"returns":"fd"},
{"nr":214,"name":"epoll_ctl_old","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64}],"classes":["poll"],"returns":"value"},
{"nr":215,"name":"epoll_wait_old","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64}],"classes":["poll"],"returns":"value"},
{"nr":216,"name":"remap_file_pages","args":[{"name":"start","kind":"address","width":64},{"name":"size","kind":"size","width":64},{"name":"prot","kind":"flags","width":64,"flags":"mmap_prot"},{"name":"pgoff","kind":"uint","width":64},{"name":"flags","kind":"flags","width":64,"flags":"mmap_flags"}],"classes":["memory"],"returns":"zero"},
{"nr":217,"name":"getdents64","args":[{"name":"fd","kind":"fd","width":32},{"name":"dirent","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"count","kind":"size","width":32}],"classes":["read","desc"],"returns":"count"},
{"nr":218,"name":"set_tid_address","args":[{"name":"tidptr","kind":"address","width":64,"direction":"out"}],"classes":["process"],"returns":"pid"},
{"nr":219,"name":"restart_syscall","args":[],"classes":["signal"],"returns":"value"},
{"nr":220,"name":"semtimedop","args":[{"name":"semid","kind":"int","width":32},{"name":"sops","kind":"struct","width":64,"length":2,"struct":"sembuf","size":6},{"name":"nsops","kind":"uint","width":32},{"name":"timeout","kind":"struct","width":64,"struct":"timespec","size":16}],"classes":["ipc"],"returns":"zero"},
{"nr":221,"name":"fadvise64","args":[{"name":"fd","kind":"fd","width":32},{"name":"offset","kind":"offset","width":64},{"name":"len","kind":"size","width":64},{"name":"advice","kind":"flags","width":32,"flags":"fadvise"}],"classes":["desc"],"returns":"zero"},
{"nr":222,"name":"timer_create","args":[{"name":"which_clock","kind":"flags","width":32,"flags":"clock"},{"name":"timer_event_spec","kind":"struct","width":64,"struct":"sigevent","size":64},{"name":"created_timer_id","kind":"struct","width":64,"direction":"out","struct":"timer_t","size":4}],"classes":["time","signal"],"returns":"zero"},
{"nr":223,"name":"timer_settime","args":[{"name":"timer_id","kind":"int","width":32},{"name":"flags","kind":"flags","width":32,"flags":"timer"},{"name":"new_setting","kind":"struct","width":64,"struct":"itimerspec","size":32},{"name":"old_setting","kind":"struct","width":64,"direction":"out","struct":"itimerspec","size":32}],"classes":["time"],"returns":"zero"},
{"nr":224,"name":"timer_gettime","args":[{"name":"timer_id","kind":"int","width":32},{"name":"setting","kind":"struct","width":64,"direction":"out","struct":"itimerspec","size":32}],"classes":["time"],"returns":"zero"},
{"nr":225,"name":"timer_getoverrun","args":[{"name":"timer_id","kind":"int","width":32}],"classes":["time"],"returns":"value"},
{"nr":226,"name":"timer_delete","args":[{"name":"timer_id","kind":"int","width":32}],"classes":["time"],"returns":"zero"},
{"nr":227,"name":"clock_settime","args":[{"name":"which_clock","kind":"flags","width":32,"flags":"clock"},{"name":"tp","kind":"struct","width":64,"struct":"timespec","size":16}],"classes":["time"],"returns":"zero"},
{"nr":228,"name":"clock_gettime","args":[{"name":"which_clock","kind":"flags","width":32,"flags":"clock"},{"name":"tp","kind":"struct","width":64,"direction":"out","struct":"timespec","size":16}],"classes":["time"],"returns":"zero"},
{"nr":229,"name":"clock_getres","args":[{"name":"which_clock","kind":"flags","width":32,"flags":"clock"},{"name":"tp","kind":"struct","width":64,"direction":"out","struct":"timespec","size":16}],"classes":["time"],"returns":"zero"},
{"nr":230,"name":"clock_nanosleep","args":[{"name":"which_clock","kind":"flags","width":32,"flags":"clock"},{"name":"flags","kind":"flags","width":32,"flags":"timer"},{"name":"rqtp","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"rmtp","kind":"struct","width":64,"direction":"out","struct":"timespec","size":16}],"classes":["time"],"returns":"zero"},
{"nr":231,"name":"exit_group","args":[{"name":"error_code","kind":"int","width":32}],"classes":["process"],"returns":"never"},
{"nr":232,"name":"epoll_wait","args":[{"name":"epfd","kind":"fd","width":32},{"name":"events","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"epoll_event","size":12},{"name":"maxevents","kind":"int","width":32},{"name":"timeout","kind":"int","width":32}],"classes":["poll","desc"],"returns":"count"},
{"nr":233,"name":"epoll_ctl","args":[{"name":"epfd","kind":"fd","width":32},{"name":"op","kind":"flags","width":32,"flags":"epoll_op"},{"name":"fd","kind":"fd","width":32},{"name":"event","kind":"struct","width":64,"struct":"epoll_event","size":12}],"classes":["poll","desc"],"returns":"zero"},
{"nr":234,"name":"tgkill","args":[{"name":"tgid","kind":"pid","width":32},{"name":"pid","kind":"pid","width":32},{"name":"sig","kind":"signal","width":32}],"classes":["signal","process"],"returns":"zero"},
{"nr":235,"name":"utimes","args":[{"name":"filename","kind":"path","width":64,"follow":"always"},{"name":"utimes","kind":"struct","width":64,"struct":"timeval[2]","size":32}],"classes":["file","metadata"],"returns":"zero"},
{"nr":236,"name":"vserver","args":[{"name":"arg1","kind":"address","width":64},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64},{"name":"arg5","kind":"address","width":64}],"classes":["kernel"],"returns":"value"},
{"nr":237,"name":"mbind","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"mode","kind":"flags","width":64,"flags":"mempolicy"},{"name":"nmask","kind":"address","width":64},{"name":"maxnode","kind":"uint","width":64},{"name":"flags","kind":"flags","width":32,"flags":"mbind"}],"classes":["memory"],"returns":"zero"},
{"nr":238,"name":"set_mempolicy","args":[{"name":"mode","kind":"flags","width":32,"flags":"mempolicy"},{"name":"nmask","kind":"address","width":64},{"name":"maxnode","kind":"uint","width":64}],"classes":["memory"],"returns":"zero"},
{"nr":239,"name":"get_mempolicy","args":[{"name":"policy","kind":"struct","width":64,"direction":"out","struct":"int","size":4},{"name":"nmask","kind":"address","width":64,"direction":"out"},{"name":"maxnode","kind":"uint","width":64},{"name":"addr","kind":"address","width":64},{"name":"flags","kind":"flags","width":64,"flags":"get_mempolicy"}],"classes":["memory"],"returns":"zero"},
{"nr":240,"name":"mq_open","args":[{"name":"name","kind":"string","width":64},{"name":"oflag","kind":"flags","width":32,"flags":"open"},{"name":"mode","kind":"mode","width":32},{"name":"attr","kind":"struct","width":64,"struct":"mq_attr","size":64}],"classes":["ipc","open","create","desc"],"returns":"fd"},
{"nr":241,"name":"mq_unlink","args":[{"name":"name","kind":"string","width":64}],"classes":["ipc","delete"],"returns":"zero"},
{"nr":242,"name":"mq_timedsend","args":[{"name":"mqdes","kind":"fd","width":32},{"name":"msg_ptr","kind":"buffer","width":64,"length":2},{"name":"msg_len","kind":"size","width":64},{"name":"msg_prio","kind":"uint","width":32},{"name":"abs_timeout","kind":"struct","width":64,"struct":"timespec","size":16}],"classes":["ipc","write","desc"],"returns":"zero"},
{"nr":243,"name":"mq_timedreceive","args":[{"name":"mqdes","kind":"fd","width":32},{"name":"msg_ptr","kind":"buffer","width":64,"direction":"out","length":2,"filled":"result"},{"name":"msg_len","kind":"size","width":64},{"name":"msg_prio","kind":"struct","width":64,"direction":"out","struct":"unsigned int","size":4},{"name":"abs_timeout","kind":"struct","width":64,"struct":"timespec","size":16}],"classes":["ipc","read","desc"],"returns":"count"},
{"nr":244,"name":"mq_notify","args":[{"name":"mqdes","kind":"fd","width":32},{"name":"notification","kind":"struct","width":64,"struct":"sigevent","size":64}],"classes":["ipc","signal","desc"],"returns":"zero"},
{"nr":245,"name":"mq_getsetattr","args":[{"name":"mqdes","kind":"fd","width":32},{"name":"mqstat","kind":"struct","width":64,"struct":"mq_attr","size":64},{"name":"omqstat","kind":"struct","width":64,"direction":"out","struct":"mq_attr","size":64}],"classes":["ipc","desc"],"returns":"zero"},
{"nr":246,"name":"kexec_load","args":[{"name":"entry","kind":"address","width":64},{"name":"nr_segments","kind":"size","width":64},{"name":"segments","kind":"struct","width":64,"length":1,"struct":"kexec_segment","size":32},{"name":"flags","kind":"flags","width":64,"flags":"kexec_load"}],"classes":["kernel"],"returns":"zero"},
{"nr":247,"name":"waitid","args":[{"name":"which","kind":"flags","width":32,"flags":"waitid"},{"name":"pid","kind":"pid","width":32},{"name":"infop","kind":"struct","width":64,"direction":"out","struct":"siginfo","size":128},{"name":"options","kind":"flags","width":32,"flags":"wait"},{"name":"ru","kind":"struct","width":64,"direction":"out","struct":"rusage","size":144}],"classes":["process"],"returns":"zero"},
{"nr":248,"name":"add_key","args":[{"name":"_type","kind":"string","width":64},{"name":"_description","kind":"string","width":64},{"name":"_payload","kind":"buffer","width":64,"length":3},{"name":"plen","kind":"size","width":64},{"name":"destringid","kind":"int","width":32}],"classes":["keyring"],"returns":"value"},
{"nr":249,"name":"request_key","args":[{"name":"_type","kind":"string","width":64},{"name":"_description","kind":"string","width":64},{"name":"_callout_info","kind":"string","width":64},{"name":"destringid","kind":"int","width":32}],"classes":["keyring"],"returns":"value"},
{"nr":250,"name":"keyctl","args":[{"name":"cmd","kind":"flags","width":32,"flags":"keyctl"},{"name":"arg2","kind":"address","width":64},{"name":"arg3","kind":"address","width":64},{"name":"arg4","kind":"address","width":64},{"name":"arg5","kind":"address","width":64}],"classes":["keyring"],"returns":"value"},
{"nr":251,"name":"ioprio_set","args":[{"name":"which","kind":"flags","width":32,"flags":"ioprio"},{"name":"who","kind":"int","width":32},{"name":"ioprio","kind":"int","width":32}],"classes":["sched"],"returns":"zero"},
{"nr":252,"name":"ioprio_get","args":[{"name":"which","kind":"flags","width":32,"flags":"ioprio"},{"name":"who","kind":"int","width":32}],"classes":["sched"],"returns":"value"},
{"nr":253,"name":"inotify_init","args":[],"classes":["poll","desc"],"returns":"fd"},
{"nr":254,"name":"inotify_add_watch","args":[{"name":"fd","kind":"fd","width":32},{"name":"path","kind":"path","width":64,"follow":"unless:2:33554432"},{"name":"mask","kind":"flags","width":32,"flags":"inotify_mask"}],"classes":["file","poll","desc"],"returns":"value"},
{"nr":255,"name":"inotify_rm_watch","args":[{"name":"fd","kind":"fd","width":32},{"name":"wd","kind":"int","width":32}],"classes":["poll","desc"],"returns":"zero"},
{"nr":256,"name":"migrate_pages","args":[{"name":"pid","kind":"pid","width":32},{"name":"maxnode","kind":"uint","width":64},{"name":"from","kind":"address","width":64},{"name":"to","kind":"address","width":64}],"classes":["memory"],"returns":"value"},
{"nr":257,"name":"openat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:2:131072","noFollowAll":"2:192","creates":true},{"name":"flags","kind":"flags","width":32,"flags":"open"},{"name":"mode","kind":"mode","width":32}],"classes":["file","open","create","desc"],"returns":"fd"},
{"nr":258,"name":"mkdirat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":0,"follow":"never","creates":true},{"name":"mode","kind":"mode","width":32}],"classes":["file","create","desc"],"returns":"zero"},
{"nr":259,"name":"mknodat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"never","creates":true},{"name":"mode","kind":"mode","width":32},{"name":"dev","kind":"uint","width":32}],"classes":["file","create","desc"],"returns":"zero"},
{"nr":260,"name":"fchownat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:4:256"},{"name":"user","kind":"uid","width":32},{"name":"group","kind":"gid","width":32},{"name":"flag","kind":"flags","width":32,"flags":"at"}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":261,"name":"futimesat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"always"},{"name":"utimes","kind":"struct","width":64,"struct":"timeval[2]","size":32}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":262,"name":"newfstatat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:3:256"},{"name":"statbuf","kind":"struct","width":64,"direction":"out","struct":"stat","size":144},{"name":"flag","kind":"flags","width":32,"flags":"at"}],"classes":["file","stat","desc"],"returns":"zero"},
{"nr":263,"name":"unlinkat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":0,"follow":"never"},{"name":"flag","kind":"flags","width":32,"flags":"unlinkat"}],"classes":["file","delete","desc"],"returns":"zero"},
{"nr":264,"name":"renameat","args":[{"name":"olddfd","kind":"dirfd","width":32},{"name":"oldname","kind":"path","width":64,"dirfd":0,"follow":"never"},{"name":"newdfd","kind":"dirfd","width":32},{"name":"newname","kind":"path","width":64,"dirfd":2,"follow":"never","creates":true}],"classes":["file","rename","desc"],"returns":"zero"},
{"nr":265,"name":"linkat","args":[{"name":"olddfd","kind":"dirfd","width":32},{"name":"oldname","kind":"path","width":64,"dirfd":0,"follow":"if:4:1024"},{"name":"newdfd","kind":"dirfd","width":32},{"name":"newname","kind":"path","width":64,"dirfd":2,"follow":"never","creates":true},{"name":"flags","kind":"flags","width":32,"flags":"at"}],"classes":["file","link","create","desc"],"returns":"zero"},
{"nr":266,"name":"symlinkat","args":[{"name":"oldname","kind":"string","width":64},{"name":"newdfd","kind":"dirfd","width":32},{"name":"newname","kind":"path","width":64,"dirfd":1,"follow":"never","creates":true}],"classes":["file","link","create","desc"],"returns":"zero"},
{"nr":267,"name":"readlinkat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"path","kind":"path","width":64,"dirfd":0,"follow":"never"},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":3,"filled":"result"},{"name":"bufsiz","kind":"size","width":32}],"classes":["file","stat","desc"],"returns":"count"},
{"nr":268,"name":"fchmodat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"always"},{"name":"mode","kind":"mode","width":32}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":269,"name":"faccessat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"always"},{"name":"mode","kind":"flags","width":32,"flags":"access"}],"classes":["file","stat","desc"],"returns":"zero"},
{"nr":270,"name":"pselect6","args":[{"name":"n","kind":"int","width":32},{"name":"inp","kind":"struct","width":64,"direction":"inout","struct":"fd_set","size":128},{"name":"outp","kind":"struct","width":64,"direction":"inout","struct":"fd_set","size":128},{"name":"exp","kind":"struct","width":64,"direction":"inout","struct":"fd_set","size":128},{"name":"tsp","kind":"struct","width":64,"direction":"inout","struct":"timespec","size":16},{"name":"sig","kind":"address","width":64}],"classes":["poll","desc"],"returns":"count"},
{"nr":271,"name":"ppoll","args":[{"name":"ufds","kind":"struct","width":64,"direction":"inout","length":1,"struct":"pollfd","size":8},{"name":"nfds","kind":"uint","width":32},{"name":"tsp","kind":"struct","width":64,"direction":"inout","struct":"timespec","size":16},{"name":"sigmask","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"sigsetsize","kind":"size","width":64}],"classes":["poll","desc"],"returns":"count"},
{"nr":272,"name":"unshare","args":[{"name":"unshare_flags","kind":"flags","width":64,"flags":"unshare"}],"classes":["process","namespace"],"returns":"zero"},
{"nr":273,"name":"set_robust_list","args":[{"name":"head","kind":"address","width":64},{"name":"len","kind":"size","width":64}],"classes":["process"],"returns":"zero"},
{"nr":274,"name":"get_robust_list","args":[{"name":"pid","kind":"pid","width":32},{"name":"head_ptr","kind":"struct","width":64,"direction":"out","struct":"pointer","size":8},{"name":"len_ptr","kind":"struct","width":64,"direction":"out","struct":"size_t","size":8}],"classes":["process"],"returns":"zero"},
{"nr":275,"name":"splice","args":[{"name":"fd_in","kind":"fd","width":32},{"name":"off_in","kind":"struct","width":64,"direction":"inout","struct":"loff_t","size":8},{"name":"fd_out","kind":"fd","width":32},{"name":"off_out","kind":"struct","width":64,"direction":"inout","struct":"loff_t","size":8},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"splice"}],"classes":["read","write","desc"],"returns":"count"},
{"nr":276,"name":"tee","args":[{"name":"fdin","kind":"fd","width":32},{"name":"fdout","kind":"fd","width":32},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"splice"}],"classes":["read","write","desc"],"returns":"count"},
{"nr":277,"name":"sync_file_range","args":[{"name":"fd","kind":"fd","width":32},{"name":"offset","kind":"offset","width":64},{"name":"nbytes","kind":"offset","width":64},{"name":"flags","kind":"flags","width":32,"flags":"sync_file_range"}],"classes":["desc"],"returns":"zero"},
{"nr":278,"name":"vmsplice","args":[{"name":"fd","kind":"fd","width":32},{"name":"iov","kind":"iovec","width":64,"direction":"inout","length":2},{"name":"nr_segs","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"splice"}],"classes":["read","write","desc"],"returns":"count"},
{"nr":279,"name":"move_pages","args":[{"name":"pid","kind":"pid","width":32},{"name":"nr_pages","kind":"size","width":64},{"name":"pages","kind":"address","width":64},{"name":"nodes","kind":"address","width":64},{"name":"status","kind":"struct","width":64,"direction":"out","length":1,"struct":"int","size":4},{"name":"flags","kind":"flags","width":32,"flags":"mbind"}],"classes":["memory"],"returns":"value"},
{"nr":280,"name":"utimensat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:3:256"},{"name":"utimes","kind":"struct","width":64,"struct":"timespec[2]","size":32},{"name":"flags","kind":"flags","width":32,"flags":"at"}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":281,"name":"epoll_pwait","args":[{"name":"epfd","kind":"fd","width":32},{"name":"events","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"epoll_event","size":12},{"name":"maxevents","kind":"int","width":32},{"name":"timeout","kind":"int","width":32},{"name":"sigmask","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"sigsetsize","kind":"size","width":64}],"classes":["poll","desc"],"returns":"count"},
{"nr":282,"name":"signalfd","args":[{"name":"ufd","kind":"fd","width":32},{"name":"user_mask","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"sizemask","kind":"size","width":64}],"classes":["signal","desc"],"returns":"fd"},
{"nr":283,"name":"timerfd_create","args":[{"name":"clockid","kind":"flags","width":32,"flags":"clock"},{"name":"flags","kind":"flags","width":32,"flags":"timerfd_create"}],"classes":["time","desc"],"returns":"fd"},
{"nr":284,"name":"eventfd","args":[{"name":"count","kind":"uint","width":32}],"classes":["ipc","desc"],"returns":"fd"},
{"nr":285,"name":"fallocate","args":[{"name":"fd","kind":"fd","width":32},{"name":"mode","kind":"flags","width":32,"flags":"fallocate"},{"name":"offset","kind":"offset","width":64},{"name":"len","kind":"offset","width":64}],"classes":["write","desc"],"returns":"zero"},
{"nr":286,"name":"timerfd_settime","args":[{"name":"ufd","kind":"fd","width":32},{"name":"flags","kind":"flags","width":32,"flags":"timerfd_settime"},{"name":"utmr","kind":"struct","width":64,"struct":"itimerspec","size":32},{"name":"otmr","kind":"struct","width":64,"direction":"out","struct":"itimerspec","size":32}],"classes":["time","desc"],"returns":"zero"},
{"nr":287,"name":"timerfd_gettime","args":[{"name":"ufd","kind":"fd","width":32},{"name":"otmr","kind":"struct","width":64,"direction":"out","struct":"itimerspec","size":32}],"classes":["time","desc"],"returns":"zero"},
{"nr":288,"name":"accept4","args":[{"name":"fd","kind":"fd","width":32},{"name":"addr","kind":"sockaddr","width":64,"direction":"out","length":2,"lengthIsPointer":true},{"name":"addrlen","kind":"struct","width":64,"direction":"inout","struct":"int","size":4},{"name":"flags","kind":"flags","width":32,"flags":"accept4"}],"classes":["network","accept","desc"],"returns":"fd"},
{"nr":289,"name":"signalfd4","args":[{"name":"ufd","kind":"fd","width":32},{"name":"user_mask","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"sizemask","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"signalfd"}],"classes":["signal","desc"],"returns":"fd"},
{"nr":290,"name":"eventfd2","args":[{"name":"count","kind":"uint","width":32},{"name":"flags","kind":"flags","width":32,"flags":"eventfd"}],"classes":["ipc","desc"],"returns":"fd"},
{"nr":291,"name":"epoll_create1","args":[{"name":"flags","kind":"flags","width":32,"flags":"epoll_create"}],"classes":["poll","desc"],"returns":"fd"},
{"nr":292,"name":"dup3","args":[{"name":"oldfd","kind":"fd","width":32},{"name":"newfd","kind":"fd","width":32},{"name":"flags","kind":"flags","width":32,"flags":"cloexec"}],"classes":["desc"],"returns":"fd"},
{"nr":293,"name":"pipe2","args":[{"name":"fildes","kind":"fds","width":64,"direction":"out"},{"name":"flags","kind":"flags","width":32,"flags":"pipe"}],"classes":["desc","ipc"],"returns":"zero"},
{"nr":294,"name":"inotify_init1","args":[{"name":"flags","kind":"flags","width":32,"flags":"inotify_init"}],"classes":["poll","desc"],"returns":"fd"},
{"nr":295,"name":"preadv","args":[{"name":"fd","kind":"fd","width":32},{"name":"vec","kind":"iovec","width":64,"direction":"out","length":2,"filled":"result"},{"name":"vlen","kind":"size","width":64},{"name":"pos_l","kind":"offset","width":64},{"name":"pos_h","kind":"uint","width":64}],"classes":["read","desc"],"returns":"count"},
{"nr":296,"name":"pwritev","args":[{"name":"fd","kind":"fd","width":32},{"name":"vec","kind":"iovec","width":64,"length":2},{"name":"vlen","kind":"size","width":64},{"name":"pos_l","kind":"offset","width":64},{"name":"pos_h","kind":"uint","width":64}],"classes":["write","desc"],"returns":"count"},
{"nr":297,"name":"rt_tgsigqueueinfo","args":[{"name":"tgid","kind":"pid","width":32},{"name":"pid","kind":"pid","width":32},{"name":"sig","kind":"signal","width":32},{"name":"uinfo","kind":"struct","width":64,"struct":"siginfo","size":128}],"classes":["signal","process"],"returns":"zero"},
{"nr":298,"name":"perf_event_open","args":[{"name":"attr_uptr","kind":"struct","width":64,"struct":"perf_event_attr","size":136},{"name":"pid","kind":"pid","width":32},{"name":"cpu","kind":"int","width":32},{"name":"group_fd","kind":"fd","width":32},{"name":"flags","kind":"flags","width":64,"flags":"perf_event_open"}],"classes":["kernel","desc"],"returns":"fd"},
{"nr":299,"name":"recvmmsg","args":[{"name":"fd","kind":"fd","width":32},{"name":"msg","kind":"mmsghdr","width":64,"direction":"inout","length":2,"filled":"result"},{"name":"vlen","kind":"uint","width":32},{"name":"flags","kind":"flags","width":32,"flags":"msg"},{"name":"timeout","kind":"struct","width":64,"direction":"inout","struct":"timespec","size":16}],"classes":["network","read","desc"],"returns":"count"},
{"nr":300,"name":"fanotify_init","args":[{"name":"flags","kind":"flags","width":32,"flags":"fanotify_init"},{"name":"event_f_flags","kind":"flags","width":32,"flags":"open"}],"classes":["poll","desc"],"returns":"fd"},
{"nr":301,"name":"fanotify_mark","args":[{"name":"fanotify_fd","kind":"fd","width":32},{"name":"flags","kind":"flags","width":32,"flags":"fanotify_mark"},{"name":"mask","kind":"flags","width":64,"flags":"fanotify_mask"},{"name":"fd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":3,"follow":"unless:1:4"}],"classes":["file","poll","desc"],"returns":"zero"},
{"nr":302,"name":"prlimit64","args":[{"name":"pid","kind":"pid","width":32},{"name":"resource","kind":"flags","width":32,"flags":"rlimit"},{"name":"new_rlim","kind":"struct","width":64,"struct":"rlimit64","size":16},{"name":"old_rlim","kind":"struct","width":64,"direction":"out","struct":"rlimit64","size":16}],"classes":["process"],"returns":"zero"},
{"nr":303,"name":"name_to_handle_at","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"name","kind":"path","width":64,"dirfd":0,"follow":"if:4:1024"},{"name":"handle","kind":"struct","width":64,"direction":"inout","struct":"file_handle","size":8},{"name":"mnt_id","kind":"address","width":64,"direction":"out"},{"name":"flag","kind":"flags","width":32,"flags":"name_to_handle_at"}],"classes":["file","desc"],"returns":"zero"},
{"nr":304,"name":"open_by_handle_at","args":[{"name":"mountdirfd","kind":"dirfd","width":32},{"name":"handle","kind":"struct","width":64,"struct":"file_handle","size":8},{"name":"flags","kind":"flags","width":32,"flags":"open"}],"classes":["open","desc"],"returns":"fd"},
{"nr":305,"name":"clock_adjtime","args":[{"name":"which_clock","kind":"flags","width":32,"flags":"clock"},{"name":"tx","kind":"struct","width":64,"direction":"inout","struct":"timex","size":208}],"classes":["time"],"returns":"value"},
{"nr":306,"name":"syncfs","args":[{"name":"fd","kind":"fd","width":32}],"classes":["desc"],"returns":"zero"},
{"nr":307,"name":"sendmmsg","args":[{"name":"fd","kind":"fd","width":32},{"name":"msg","kind":"mmsghdr","width":64,"direction":"inout","length":2},{"name":"vlen","kind":"uint","width":32},{"name":"flags","kind":"flags","width":32,"flags":"msg"}],"classes":["network","write","connect","desc"],"returns":"count"},
{"nr":308,"name":"setns","args":[{"name":"fd","kind":"fd","width":32},{"name":"nstype","kind":"flags","width":32,"flags":"namespace"}],"classes":["process","namespace","desc"],"returns":"zero"},
{"nr":309,"name":"getcpu","args":[{"name":"cpu","kind":"struct","width":64,"direction":"out","struct":"unsigned int","size":4},{"name":"node","kind":"struct","width":64,"direction":"out","struct":"unsigned int","size":4},{"name":"cache","kind":"address","width":64}],"classes":["sched"],"returns":"zero"},
{"nr":310,"name":"process_vm_readv","args":[{"name":"pid","kind":"pid","width":32},{"name":"lvec","kind":"iovec","width":64,"direction":"out","length":2,"filled":"result"},{"name":"liovcnt","kind":"size","width":64},{"name":"rvec","kind":"address","width":64},{"name":"riovcnt","kind":"size","width":64},{"name":"flags","kind":"uint","width":64}],"classes":["process","ptrace","read"],"returns":"count"},
{"nr":311,"name":"process_vm_writev","args":[{"name":"pid","kind":"pid","width":32},{"name":"lvec","kind":"iovec","width":64,"length":2},{"name":"liovcnt","kind":"size","width":64},{"name":"rvec","kind":"address","width":64},{"name":"riovcnt","kind":"size","width":64},{"name":"flags","kind":"uint","width":64}],"classes":["process","ptrace","write"],"returns":"count"},
{"nr":312,"name":"kcmp","args":[{"name":"pid1","kind":"pid","width":32},{"name":"pid2","kind":"pid","width":32},{"name":"type","kind":"flags","width":32,"flags":"kcmp"},{"name":"idx1","kind":"uint","width":64},{"name":"idx2","kind":"uint","width":64}],"classes":["process"],"returns":"value"},
{"nr":313,"name":"finit_module","args":[{"name":"fd","kind":"fd","width":32},{"name":"uargs","kind":"string","width":64},{"name":"flags","kind":"flags","width":32,"flags":"finit_module"}],"classes":["kernel","desc"],"returns":"zero"},
{"nr":314,"name":"sched_setattr","args":[{"name":"pid","kind":"pid","width":32},{"name":"attr","kind":"struct","width":64,"struct":"sched_attr","size":56},{"name":"flags","kind":"uint","width":32}],"classes":["sched"],"returns":"zero"},
{"nr":315,"name":"sched_getattr","args":[{"name":"pid","kind":"pid","width":32},{"name":"attr","kind":"struct","width":64,"direction":"out","length":2,"struct":"sched_attr","size":0},{"name":"size","kind":"size","width":32},{"name":"flags","kind":"uint","width":32}],"classes":["sched"],"returns":"zero"},
{"nr":316,"name":"renameat2","args":[{"name":"olddfd","kind":"dirfd","width":32},{"name":"oldname","kind":"path","width":64,"dirfd":0,"follow":"never"},{"name":"newdfd","kind":"dirfd","width":32},{"name":"newname","kind":"path","width":64,"dirfd":2,"follow":"never","creates":true},{"name":"flags","kind":"flags","width":32,"flags":"rename"}],"classes":["file","rename","desc"],"returns":"zero"},
{"nr":317,"name":"seccomp","args":[{"name":"op","kind":"flags","width":32,"flags":"seccomp"},{"name":"flags","kind":"flags","width":32,"flags":"seccomp_filter"},{"name":"uargs","kind":"address","width":64,"direction":"inout"}],"classes":["process"],"returns":"value"},
{"nr":318,"name":"getrandom","args":[{"name":"buf","kind":"buffer","width":64,"direction":"out","length":1,"filled":"result"},{"name":"count","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"getrandom"}],"classes":["random"],"returns":"count"},
{"nr":319,"name":"memfd_create","args":[{"name":"uname_ptr","kind":"string","width":64},{"name":"flags","kind":"flags","width":32,"flags":"memfd"}],"classes":["memory","desc","create"],"returns":"fd"},
{"nr":320,"name":"kexec_file_load","args":[{"name":"kernel_fd","kind":"fd","width":32},{"name":"initrd_fd","kind":"fd","width":32},{"name":"cmdline_len","kind":"size","width":64},{"name":"cmdline_ptr","kind":"buffer","width":64,"length":2},{"name":"flags","kind":"flags","width":64,"flags":"kexec_file"}],"classes":["kernel","desc"],"returns":"zero"},
{"nr":321,"name":"bpf","args":[{"name":"cmd","kind":"flags","width":32,"flags":"bpf"},{"name":"attr","kind":"struct","width":64,"direction":"inout","length":2,"struct":"bpf_attr","size":0},{"name":"size","kind":"size","width":32}],"classes":["kernel","desc"],"returns":"value"},
{"nr":322,"name":"execveat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:4:256"},{"name":"argv","kind":"argv","width":64},{"name":"envp","kind":"argv","width":64},{"name":"flags","kind":"flags","width":32,"flags":"execveat"}],"classes":["file","process","exec","desc"],"returns":"zero"},
{"nr":323,"name":"userfaultfd","args":[{"name":"flags","kind":"flags","width":32,"flags":"userfaultfd"}],"classes":["memory","desc"],"returns":"fd"},
{"nr":324,"name":"membarrier","args":[{"name":"cmd","kind":"flags","width":32,"flags":"membarrier"},{"name":"flags","kind":"flags","width":32,"flags":"membarrier_flags"},{"name":"cpu_id","kind":"int","width":32}],"classes":["memory"],"returns":"value"},
{"nr":325,"name":"mlock2","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"mlock2"}],"classes":["memory"],"returns":"zero"},
{"nr":326,"name":"copy_file_range","args":[{"name":"fd_in","kind":"fd","width":32},{"name":"off_in","kind":"struct","width":64,"direction":"inout","struct":"loff_t","size":8},{"name":"fd_out","kind":"fd","width":32},{"name":"off_out","kind":"struct","width":64,"direction":"inout","struct":"loff_t","size":8},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"uint","width":32}],"classes":["read","write","desc"],"returns":"count"},
{"nr":327,"name":"preadv2","args":[{"name":"fd","kind":"fd","width":32},{"name":"vec","kind":"iovec","width":64,"direction":"out","length":2,"filled":"result"},{"name":"vlen","kind":"size","width":64},{"name":"pos_l","kind":"offset","width":64},{"name":"pos_h","kind":"uint","width":64},{"name":"flags","kind":"flags","width":32,"flags":"rwf"}],"classes":["read","desc"],"returns":"count"},
{"nr":328,"name":"pwritev2","args":[{"name":"fd","kind":"fd","width":32},{"name":"vec","kind":"iovec","width":64,"length":2},{"name":"vlen","kind":"size","width":64},{"name":"pos_l","kind":"offset","width":64},{"name":"pos_h","kind":"uint","width":64},{"name":"flags","kind":"flags","width":32,"flags":"rwf"}],"classes":["write","desc"],"returns":"count"},
{"nr":329,"name":"pkey_mprotect","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"prot","kind":"flags","width":64,"flags":"mmap_prot"},{"name":"pkey","kind":"int","width":32}],"classes":["memory"],"returns":"zero"},
{"nr":330,"name":"pkey_alloc","args":[{"name":"flags","kind":"uint","width":64},{"name":"init_val","kind":"flags","width":64,"flags":"pkey"}],"classes":["memory"],"returns":"value"},
{"nr":331,"name":"pkey_free","args":[{"name":"pkey","kind":"int","width":32}],"classes":["memory"],"returns":"zero"},
{"nr":332,"name":"statx","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"path","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"flags","kind":"flags","width":32,"flags":"statx_at"},{"name":"mask","kind":"flags","width":32,"flags":"statx_mask"},{"name":"buffer","kind":"struct","width":64,"direction":"out","struct":"statx","size":256}],"classes":["file","stat","desc"],"returns":"zero"},
{"nr":333,"name":"io_pgetevents","args":[{"name":"ctx_id","kind":"address","width":64},{"name":"min_nr","kind":"int","width":64},{"name":"nr","kind":"int","width":64},{"name":"events","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"io_event","size":32},{"name":"timeout","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"sig","kind":"address","width":64}],"classes":["aio"],"returns":"count"},
{"nr":334,"name":"rseq","args":[{"name":"rseq","kind":"address","width":64,"direction":"inout"},{"name":"rseq_len","kind":"size","width":32},{"name":"flags","kind":"flags","width":32,"flags":"rseq"},{"name":"sig","kind":"uint","width":32}],"classes":["process"],"returns":"zero"},
{"nr":335,"name":"uretprobe","args":[],"classes":["kernel"],"returns":"value"},
{"nr":336,"name":"uprobe","args":[],"classes":["kernel"],"returns":"value"},
{"nr":424,"name":"pidfd_send_signal","args":[{"name":"pidfd","kind":"fd","width":32},{"name":"sig","kind":"signal","width":32},{"name":"info","kind":"struct","width":64,"struct":"siginfo","size":128},{"name":"flags","kind":"flags","width":32,"flags":"pidfd_signal"}],"classes":["signal","process","desc"],"returns":"zero"},
{"nr":425,"name":"io_uring_setup","args":[{"name":"entries","kind":"uint","width":32},{"name":"p","kind":"struct","width":64,"direction":"inout","struct":"io_uring_params","size":120}],"classes":["io_uring","desc"],"returns":"fd"},
{"nr":426,"name":"io_uring_enter","args":[{"name":"fd","kind":"fd","width":32},{"name":"to_submit","kind":"uint","width":32},{"name":"min_complete","kind":"uint","width":32},{"name":"flags","kind":"flags","width":32,"flags":"io_uring_enter"},{"name":"argp","kind":"buffer","width":64,"length":5},{"name":"argsz","kind":"size","width":64}],"classes":["io_uring","signal","desc"],"returns":"count"},
{"nr":427,"name":"io_uring_register","args":[{"name":"fd","kind":"fd","width":32},{"name":"op","kind":"flags","width":32,"flags":"io_uring_register"},{"name":"arg","kind":"address","width":64,"direction":"inout"},{"name":"nr_args","kind":"uint","width":32}],"classes":["io_uring","memory","desc"],"returns":"value"},
{"nr":428,"name":"open_tree","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"path","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"flags","kind":"flags","width":32,"flags":"open_tree"}],"classes":["file","mount","open","desc"],"returns":"fd"},
{"nr":429,"name":"move_mount","args":[{"name":"from_dfd","kind":"dirfd","width":32},{"name":"from_path","kind":"path","width":64,"dirfd":0,"follow":"if:4:1"},{"name":"to_dfd","kind":"dirfd","width":32},{"name":"to_path","kind":"path","width":64,"dirfd":2,"follow":"if:4:16"},{"name":"ms_flags","kind":"flags","width":32,"flags":"move_mount"}],"classes":["file","mount","desc"],"returns":"zero"},
{"nr":430,"name":"fsopen","args":[{"name":"fs_name","kind":"string","width":64},{"name":"flags","kind":"flags","width":32,"flags":"fsopen"}],"classes":["mount","desc"],"returns":"fd"},
{"nr":431,"name":"fsconfig","args":[{"name":"fs_fd","kind":"fd","width":32},{"name":"cmd","kind":"flags","width":32,"flags":"fsconfig"},{"name":"key","kind":"string","width":64},{"name":"value","kind":"address","width":64},{"name":"aux","kind":"int","width":32}],"classes":["file","mount","desc"],"returns":"zero"},
{"nr":432,"name":"fsmount","args":[{"name":"fs_fd","kind":"fd","width":32},{"name":"flags","kind":"flags","width":32,"flags":"fsmount"},{"name":"ms_flags","kind":"flags","width":32,"flags":"mount_attr"}],"classes":["mount","desc"],"returns":"fd"},
{"nr":433,"name":"fspick","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"path","kind":"path","width":64,"dirfd":0,"follow":"unless:2:2"},{"name":"flags","kind":"flags","width":32,"flags":"fspick"}],"classes":["file","mount","desc"],"returns":"fd"},
{"nr":434,"name":"pidfd_open","args":[{"name":"pid","kind":"pid","width":32},{"name":"flags","kind":"flags","width":32,"flags":"pidfd_open"}],"classes":["process","desc"],"returns":"fd"},
{"nr":435,"name":"clone3","args":[{"name":"uargs","kind":"struct","width":64,"length":1,"struct":"clone_args","size":0},{"name":"size","kind":"size","width":64}],"classes":["process","namespace"],"returns":"pid"},
{"nr":436,"name":"close_range","args":[{"name":"fd","kind":"fd","width":32},{"name":"max_fd","kind":"uint","width":32},{"name":"flags","kind":"flags","width":32,"flags":"close_range"}],"classes":["desc"],"returns":"zero"},
{"nr":437,"name":"openat2","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"how":2,"creates":true},{"name":"how","kind":"struct","width":64,"length":3,"struct":"open_how","size":0},{"name":"size","kind":"size","width":64}],"classes":["file","open","create","desc"],"returns":"fd"},
{"nr":438,"name":"pidfd_getfd","args":[{"name":"pidfd","kind":"fd","width":32},{"name":"fd","kind":"int","width":32},{"name":"flags","kind":"uint","width":32}],"classes":["process","ptrace","desc"],"returns":"fd"},
{"nr":439,"name":"faccessat2","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:3:256"},{"name":"mode","kind":"flags","width":32,"flags":"access"},{"name":"flags","kind":"flags","width":32,"flags":"faccessat"}],"classes":["file","stat","desc"],"returns":"zero"},
{"nr":440,"name":"process_madvise","args":[{"name":"pidfd","kind":"fd","width":32},{"name":"vec","kind":"address","width":64},{"name":"vlen","kind":"size","width":64},{"name":"behavior","kind":"flags","width":32,"flags":"madvise"},{"name":"flags","kind":"uint","width":32}],"classes":["memory","process","desc"],"returns":"count"},
{"nr":441,"name":"epoll_pwait2","args":[{"name":"epfd","kind":"fd","width":32},{"name":"events","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"epoll_event","size":12},{"name":"maxevents","kind":"int","width":32},{"name":"timeout","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"sigmask","kind":"struct","width":64,"struct":"sigset","size":8},{"name":"sigsetsize","kind":"size","width":64}],"classes":["poll","desc"],"returns":"count"},
{"nr":442,"name":"mount_setattr","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"path","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"flags","kind":"flags","width":32,"flags":"at"},{"name":"uattr","kind":"struct","width":64,"length":4,"struct":"mount_attr","size":0},{"name":"usize","kind":"size","width":64}],"classes":["file","mount","desc"],"returns":"zero"},
{"nr":443,"name":"quotactl_fd","args":[{"name":"fd","kind":"fd","width":32},{"name":"cmd","kind":"uint","width":32},{"name":"id","kind":"uint","width":32},{"name":"addr","kind":"address","width":64,"direction":"inout"}],"classes":["kernel","desc"],"returns":"value"},
{"nr":444,"name":"landlock_create_ruleset","args":[{"name":"attr","kind":"struct","width":64,"length":1,"struct":"landlock_ruleset_attr","size":0},{"name":"size","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"landlock_create"}],"classes":["process","desc"],"returns":"fd"},
{"nr":445,"name":"landlock_add_rule","args":[{"name":"ruleset_fd","kind":"fd","width":32},{"name":"rule_type","kind":"flags","width":32,"flags":"landlock_rule"},{"name":"rule_attr","kind":"address","width":64},{"name":"flags","kind":"uint","width":32}],"classes":["process","desc"],"returns":"zero"},
{"nr":446,"name":"landlock_restrict_self","args":[{"name":"ruleset_fd","kind":"fd","width":32},{"name":"flags","kind":"flags","width":32,"flags":"landlock_restrict"}],"classes":["process","desc"],"returns":"zero"},
{"nr":447,"name":"memfd_secret","args":[{"name":"flags","kind":"flags","width":32,"flags":"cloexec"}],"classes":["memory","desc","create"],"returns":"fd"},
{"nr":448,"name":"process_mrelease","args":[{"name":"pidfd","kind":"fd","width":32},{"name":"flags","kind":"uint","width":32}],"classes":["memory","process","desc"],"returns":"zero"},
{"nr":449,"name":"futex_waitv","args":[{"name":"waiters","kind":"struct","width":64,"length":1,"struct":"futex_waitv","size":24},{"name":"nr_futexes","kind":"uint","width":32},{"name":"flags","kind":"uint","width":32},{"name":"timeout","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"clockid","kind":"flags","width":32,"flags":"clock"}],"classes":["ipc"],"returns":"value"},
{"nr":450,"name":"set_mempolicy_home_node","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"home_node","kind":"uint","width":64},{"name":"flags","kind":"uint","width":64}],"classes":["memory"],"returns":"zero"},
{"nr":451,"name":"cachestat","args":[{"name":"fd","kind":"fd","width":32},{"name":"cstat_range","kind":"struct","width":64,"struct":"cachestat_range","size":16},{"name":"cstat","kind":"struct","width":64,"direction":"out","struct":"cachestat","size":40},{"name":"flags","kind":"uint","width":32}],"classes":["stat","desc"],"returns":"zero"},
{"nr":452,"name":"fchmodat2","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:3:256"},{"name":"mode","kind":"mode","width":32},{"name":"flags","kind":"flags","width":32,"flags":"at"}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":453,"name":"map_shadow_stack","args":[{"name":"addr","kind":"address","width":64},{"name":"size","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"shadow_stack"}],"classes":["memory"],"returns":"address"},
{"nr":454,"name":"futex_wake","args":[{"name":"uaddr","kind":"address","width":64},{"name":"mask","kind":"uint","width":64},{"name":"nr","kind":"int","width":32},{"name":"flags","kind":"flags","width":32,"flags":"futex2"}],"classes":["ipc"],"returns":"count"},
{"nr":455,"name":"futex_wait","args":[{"name":"uaddr","kind":"address","width":64},{"name":"val","kind":"uint","width":64},{"name":"mask","kind":"uint","width":64},{"name":"flags","kind":"flags","width":32,"flags":"futex2"},{"name":"timespec","kind":"struct","width":64,"struct":"timespec","size":16},{"name":"clockid","kind":"flags","width":32,"flags":"clock"}],"classes":["ipc"],"returns":"zero"},
{"nr":456,"name":"futex_requeue","args":[{"name":"waiters","kind":"struct","width":64,"struct":"futex_waitv[2]","size":48},{"name":"flags","kind":"uint","width":32},{"name":"nr_wake","kind":"int","width":32},{"name":"nr_requeue","kind":"int","width":32}],"classes":["ipc"],"returns":"count"},
{"nr":457,"name":"statmount","args":[{"name":"req","kind":"struct","width":64,"struct":"mnt_id_req","size":32},{"name":"buf","kind":"buffer","width":64,"direction":"out","length":2},{"name":"bufsize","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"statmount"}],"classes":["mount","stat"],"returns":"zero"},
{"nr":458,"name":"listmount","args":[{"name":"req","kind":"struct","width":64,"struct":"mnt_id_req","size":32},{"name":"mnt_ids","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"u64","size":8},{"name":"nr_mnt_ids","kind":"size","width":64},{"name":"flags","kind":"flags","width":32,"flags":"listmount"}],"classes":["mount","stat"],"returns":"count"},
{"nr":459,"name":"lsm_get_self_attr","args":[{"name":"attr","kind":"flags","width":32,"flags":"lsm_attr"},{"name":"ctx","kind":"buffer","width":64,"direction":"out","length":2,"lengthIsPointer":true},{"name":"size","kind":"struct","width":64,"direction":"inout","struct":"u32","size":4},{"name":"flags","kind":"flags","width":32,"flags":"lsm_flag"}],"classes":["credential"],"returns":"count"},
{"nr":460,"name":"lsm_set_self_attr","args":[{"name":"attr","kind":"flags","width":32,"flags":"lsm_attr"},{"name":"ctx","kind":"buffer","width":64,"length":2},{"name":"size","kind":"size","width":32},{"name":"flags","kind":"uint","width":32}],"classes":["credential"],"returns":"zero"},
{"nr":461,"name":"lsm_list_modules","args":[{"name":"ids","kind":"buffer","width":64,"direction":"out","length":1,"lengthIsPointer":true},{"name":"size","kind":"struct","width":64,"direction":"inout","struct":"u32","size":4},{"name":"flags","kind":"uint","width":32}],"classes":["system"],"returns":"count"},
{"nr":462,"name":"mseal","args":[{"name":"start","kind":"address","width":64},{"name":"len","kind":"size","width":64},{"name":"flags","kind":"uint","width":64}],"classes":["memory"],"returns":"zero"},
{"nr":463,"name":"setxattrat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"at_flags","kind":"flags","width":32,"flags":"at"},{"name":"name","kind":"string","width":64},{"name":"uargs","kind":"struct","width":64,"length":5,"struct":"xattr_args","size":0},{"name":"usize","kind":"size","width":64}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":464,"name":"getxattrat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"at_flags","kind":"flags","width":32,"flags":"at"},{"name":"name","kind":"string","width":64},{"name":"uargs","kind":"struct","width":64,"length":5,"struct":"xattr_args","size":0},{"name":"usize","kind":"size","width":64}],"classes":["file","metadata","desc"],"returns":"count"},
{"nr":465,"name":"listxattrat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"at_flags","kind":"flags","width":32,"flags":"at"},{"name":"list","kind":"buffer","width":64,"direction":"out","length":4,"filled":"result"},{"name":"size","kind":"size","width":64}],"classes":["file","metadata","desc"],"returns":"count"},
{"nr":466,"name":"removexattrat","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"pathname","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"at_flags","kind":"flags","width":32,"flags":"at"},{"name":"name","kind":"string","width":64}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":467,"name":"open_tree_attr","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:2:256"},{"name":"flags","kind":"flags","width":32,"flags":"open_tree"},{"name":"uattr","kind":"struct","width":64,"length":4,"struct":"mount_attr","size":0},{"name":"usize","kind":"size","width":64}],"classes":["file","mount","open","desc"],"returns":"fd"},
{"nr":468,"name":"file_getattr","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:4:256"},{"name":"ufattr","kind":"struct","width":64,"direction":"out","length":3,"struct":"file_attr","size":0},{"name":"usize","kind":"size","width":64},{"name":"at_flags","kind":"flags","width":32,"flags":"at"}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":469,"name":"file_setattr","args":[{"name":"dfd","kind":"dirfd","width":32},{"name":"filename","kind":"path","width":64,"dirfd":0,"follow":"unless:4:256"},{"name":"ufattr","kind":"struct","width":64,"length":3,"struct":"file_attr","size":0},{"name":"usize","kind":"size","width":64},{"name":"at_flags","kind":"flags","width":32,"flags":"at"}],"classes":["file","metadata","desc"],"returns":"zero"},
{"nr":470,"name":"listns","args":[{"name":"req","kind":"struct","width":64,"struct":"ns_id_req","size":32},{"name":"ns_ids","kind":"struct","width":64,"direction":"out","length":2,"filled":"result","struct":"u64","size":8},{"name":"nr_ns_ids","kind":"size","width":64},{"name":"flags","kind":"uint","width":32}],"classes":["namespace"],"returns":"count"},
{"nr":471,"name":"rseq_slice_yield","args":[],"classes":["process"],"returns":"value"}
]`);

// src/inspect/jump-tables.ts
var import_iced_x863 = require("iced-x86");

// src/inspect/registers.ts
var import_iced_x862 = require("iced-x86");
var full = (register) => register === import_iced_x862.Register.None ? import_iced_x862.Register.None : import_iced_x862.RegisterExt.fullRegister(register);
function isImmediate(kind) {
  return kind >= import_iced_x862.OpKind.Immediate8 && kind <= import_iced_x862.OpKind.Immediate32to64;
}
var WRITES = /* @__PURE__ */ new Set([
  import_iced_x862.OpAccess.Write,
  import_iced_x862.OpAccess.CondWrite,
  import_iced_x862.OpAccess.ReadWrite,
  import_iced_x862.OpAccess.ReadCondWrite
]);
var factory = new import_iced_x862.InstructionInfoFactory();
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
var MOST_ENTRIES3 = 4096;
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
  if (count > MOST_ENTRIES3 || isWritable(elf, table2, count * width)) return void 0;
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
  #last = import_iced_x863.Mnemonic.INVALID;
  jump;
  jumpAt = 0;
  step(code) {
    const i = code.instruction;
    this.#last = i.mnemonic;
    if (code.flow === Flow.BRANCH) return;
    if (code.flow === Flow.INDIRECT) {
      this.jumpAt = code.address;
      this.jump = i.op0Kind === import_iced_x863.OpKind.Register ? this.#loads.get(i.op0Register) : this.#load(i, 8);
      return;
    }
    const to = i.opCount > 0 && i.op0Kind === import_iced_x863.OpKind.Register ? i.op0Register : import_iced_x863.Register.None;
    const learned = this.#learn(i, to);
    const { registers, flags } = written(i);
    for (const register of registers) this.#forget(register);
    if (flags) this.#compared = void 0;
    if (code.flow === Flow.CALL || code.flow === Flow.CALL_INDIRECT || code.flow === Flow.SYSCALL)
      this.#forgetAll();
    if (to !== import_iced_x863.Register.None && registers.includes(full(to)) && import_iced_x863.RegisterExt.isGPR32(to))
      this.#narrow.add(full(to));
    learned?.();
  }
  /** What is known beyond a branch: how large the index can be. */
  leave(enters) {
    const compared = this.#compared;
    const op = this.#last;
    if (compared === void 0) return;
    const over = enters === "fall" ? op === import_iced_x863.Mnemonic.Ja : enters === "taken" && op === import_iced_x863.Mnemonic.Jbe;
    const atLeast = enters === "fall" ? op === import_iced_x863.Mnemonic.Jae : enters === "taken" && op === import_iced_x863.Mnemonic.Jb;
    const limit = over ? compared.bound.limit : atLeast ? compared.bound.limit - 1 : -1;
    if (limit >= 0 && limit < MOST_ENTRIES3) this.#index.set(compared.register, { ...compared.bound, limit });
  }
  /** What an instruction tells, to be remembered after what it overwrites is forgotten. */
  #learn(i, to) {
    if (to === import_iced_x863.Register.None) return void 0;
    const target = full(to);
    const number = isImmediate(i.op1Kind) ? Number(i.immediate(1)) : void 0;
    const from = i.opCount > 1 && i.op1Kind === import_iced_x863.OpKind.Register ? i.op1Register : import_iced_x863.Register.None;
    switch (i.mnemonic) {
      case import_iced_x863.Mnemonic.Cmp: {
        if (number === void 0) return void 0;
        const bound = { limit: number, bits: import_iced_x863.RegisterExt.size(to) * 8 };
        return () => {
          this.#compared = { register: target, bound };
        };
      }
      case import_iced_x863.Mnemonic.And:
        if (number === void 0 || number >= MOST_ENTRIES3 || import_iced_x863.RegisterExt.size(to) < 4) return void 0;
        return () => this.#index.set(target, { limit: number, bits: 64 });
      case import_iced_x863.Mnemonic.Lea: {
        if (!i.isIpRelMemoryOperand) return void 0;
        const address = Number(i.ipRelMemoryAddress);
        return () => this.#address.set(target, address);
      }
      case import_iced_x863.Mnemonic.Add: {
        const load = this.#loads.get(target) ?? this.#loads.get(from);
        const base = this.#loads.has(target) ? this.#address.get(from) : this.#address.get(target);
        if (load?.width !== 4 || load.base !== void 0 || base === void 0 || import_iced_x863.RegisterExt.size(to) !== 8)
          return void 0;
        return () => this.#loads.set(target, { ...load, base });
      }
      case import_iced_x863.Mnemonic.Mov:
      case import_iced_x863.Mnemonic.Movzx:
      case import_iced_x863.Mnemonic.Movsxd:
        return this.#move(i, to, from, number);
    }
    return void 0;
  }
  #move(i, to, from, number) {
    const target = full(to);
    if (import_iced_x863.RegisterExt.size(to) < 4) return void 0;
    if (i.op1Kind === import_iced_x863.OpKind.Memory) {
      const load2 = import_iced_x863.RegisterExt.size(to) === 8 ? this.#load(i, i.mnemonic === import_iced_x863.Mnemonic.Movsxd ? 4 : 8) : void 0;
      return load2 && (() => this.#loads.set(target, load2));
    }
    if (number !== void 0) return () => this.#address.set(target, number);
    const bits = import_iced_x863.RegisterExt.size(from) * 8;
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
    if (i.memoryIndex === import_iced_x863.Register.None || i.memoryIndexScale !== width) return void 0;
    const bound = this.#index.get(i.memoryIndex);
    if (bound === void 0 || !(bound.bits === 64 || bound.bits === 32 && this.#narrow.has(i.memoryIndex)))
      return void 0;
    const displacement = Number(i.memoryDisplacement);
    const base = i.memoryBase === import_iced_x863.Register.None ? 0 : this.#address.get(i.memoryBase);
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

// src/inspect/constants.ts
var import_iced_x864 = require("iced-x86");
var entryValue = (register) => -1 - register;
var entryRegister = (value) => value !== void 0 && value < 0 ? -1 - value : void 0;
var GPRS = 16;
function followConstants(code, flow, visit) {
  const states = /* @__PURE__ */ new Map();
  const unknown = () => new Array(GPRS).fill(void 0);
  const atEntry = flow.complete ? Array.from({ length: GPRS }, (_, i) => entryValue(i)) : unknown();
  for (const root of flow.roots) states.set(root, root === flow.function.address ? atEntry : unknown());
  const open = flow.complete ? [...flow.roots] : [];
  for (let start = open.pop(); start !== void 0; start = open.pop()) {
    const block = flow.blocks.get(start);
    if (block === void 0) continue;
    const after = run(code, block.start, block.instructions, states.get(start));
    for (const { to } of block.edges) {
      const known2 = states.get(to);
      const met = known2 === void 0 ? after : known2.map((value, i) => value === after[i] ? value : void 0);
      if (known2 !== void 0 && met.every((value, i) => value === known2[i])) continue;
      states.set(to, [...met]);
      open.push(to);
    }
  }
  for (const { start, instructions } of flow.blocks.values())
    run(code, start, instructions, states.get(start) ?? unknown(), visit);
}
function run(code, start, instructions, before2, visit) {
  const registers = [...before2];
  let stack = [];
  code.seek(start);
  for (let i = 0; i < instructions && code.next(); i++) {
    visit?.(code, registers);
    const { flow, instruction } = code;
    if (flow === Flow.CALL || flow === Flow.CALL_INDIRECT) {
      registers.fill(void 0);
      stack = [];
      continue;
    }
    if (flow === Flow.SYSCALL) registers[RAX] = void 0;
    const learned = learn(instruction, registers, stack);
    const op = instruction.mnemonic;
    for (const register of written(instruction).registers) {
      const index = gpr(register);
      if (index === void 0) continue;
      registers[index] = void 0;
      if (index === RSP && op !== import_iced_x864.Mnemonic.Push && op !== import_iced_x864.Mnemonic.Pop) stack = [];
    }
    if (op === import_iced_x864.Mnemonic.Push) stack.push(pushed(instruction, registers));
    if (op === import_iced_x864.Mnemonic.Pop) stack.pop();
    if (learned !== void 0) registers[learned.register] = learned.value;
  }
  return registers;
}
var RAX = 0;
var RSP = 4;
function gpr(register) {
  return import_iced_x864.RegisterExt.isGPR(register) ? import_iced_x864.RegisterExt.number(full(register)) : void 0;
}
function pushed(i, registers) {
  if (isImmediate(i.op0Kind)) return unsigned(Number(BigInt.asIntN(64, i.immediate(0))));
  return i.op0Kind === import_iced_x864.OpKind.Register ? registers[gpr(i.op0Register) ?? -1] : void 0;
}
function unsigned(value) {
  return value >= 0 && value <= 4294967295 ? value : value < 0 && value >= -2147483648 ? value >>> 0 : void 0;
}
function learn(i, registers, stack) {
  if (i.opCount === 0 || i.op0Kind !== import_iced_x864.OpKind.Register) return void 0;
  const to = i.op0Register;
  const register = gpr(to);
  if (register === void 0) return void 0;
  const size = import_iced_x864.RegisterExt.size(to);
  const from = i.opCount > 1 && i.op1Kind === import_iced_x864.OpKind.Register ? i.op1Register : import_iced_x864.Register.None;
  const number = i.opCount > 1 && isImmediate(i.op1Kind) ? Number(BigInt.asIntN(64, i.immediate(1))) : void 0;
  const is = (value) => ({ register, value });
  switch (i.mnemonic) {
    case import_iced_x864.Mnemonic.Mov:
      if (number !== void 0 && size >= 4) return is(unsigned(size === 4 ? number >>> 0 : number));
      if (number !== void 0) return is(partly(to, registers[register], number));
      if (from !== import_iced_x864.Register.None && size >= 4) return is(registers[gpr(from) ?? -1]);
      return void 0;
    case import_iced_x864.Mnemonic.Xor:
    case import_iced_x864.Mnemonic.Sub:
      if (from === to && size >= 4) return is(0);
      return i.mnemonic === import_iced_x864.Mnemonic.Sub ? arithmetic(is, registers[register], number, size, -1) : void 0;
    case import_iced_x864.Mnemonic.Add:
      return arithmetic(is, registers[register], number, size, 1);
    case import_iced_x864.Mnemonic.Movsxd: {
      const value = from === import_iced_x864.Register.None ? void 0 : registers[gpr(from) ?? -1];
      return value === void 0 ? void 0 : is(value);
    }
    case import_iced_x864.Mnemonic.Lea: {
      if (i.isIpRelMemoryOperand || i.memoryIndex !== import_iced_x864.Register.None || i.memoryBase === import_iced_x864.Register.None)
        return void 0;
      const base = registers[gpr(i.memoryBase) ?? -1];
      return arithmetic(is, base, Number(BigInt.asIntN(64, i.memoryDisplacement)), size, 1);
    }
    case import_iced_x864.Mnemonic.Pop:
      return size === 8 && stack.length > 0 ? is(stack.at(-1)) : void 0;
  }
  return void 0;
}
function arithmetic(is, value, by, size, sign) {
  if (value === void 0 || value < 0 || by === void 0 || size < 4) return void 0;
  return is(unsigned(value + sign * by));
}
function partly(to, before2, number) {
  if (before2 === void 0 || before2 < 0) return void 0;
  if (import_iced_x864.RegisterExt.size(to) === 2) return (before2 & 4294901760 | number & 65535) >>> 0;
  if (to === import_iced_x864.Register.AH || to === import_iced_x864.Register.BH || to === import_iced_x864.Register.CH || to === import_iced_x864.Register.DH) return void 0;
  return (before2 & 4294967040 | number & 255) >>> 0;
}

// src/inspect/syscalls.ts
var RAX2 = 0;
var RDI = 7;
var MOST_SITES = 1e5;
var MOST_ROUNDS2 = 4;
var NAMES = new Map(SYSCALLS.map(({ nr, name }) => [nr, name]));
function syscallSites(elf, code, functions) {
  return new Search(elf, code, functions).run();
}
var Search = class {
  #elf;
  #code;
  #functions;
  #sites = /* @__PURE__ */ new Map();
  /** Functions that make the system call whose number one of their registers holds. */
  #wrappers = /* @__PURE__ */ new Map();
  /** Places in memory through which such a function is called. */
  #slots = /* @__PURE__ */ new Map();
  constructor(elf, code, functions) {
    this.#elf = elf;
    this.#code = code;
    this.#functions = functions;
  }
  run() {
    const candidates = this.#candidates();
    const owners = new Set(
      candidates.map((address) => this.#functions.at(address)).filter((each) => each !== void 0)
    );
    for (const owner of owners) this.#look(owner);
    for (const address of candidates) if (!this.#sites.has(address)) this.#unreached(address);
    this.#imports();
    this.#callers();
    const found = candidates.filter((address) => this.#sites.has(address)).length;
    const sites = [...this.#sites.values()].sort((a, b) => a.address - b.address);
    return { sites, elsewhere: candidates.length - found };
  }
  /** Byte pairs that may be syscall, sysenter or int $0x80. */
  #candidates() {
    const found = [];
    for (const { address, bytes } of this.#code.regions) {
      const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      for (const pair of PAIRS)
        for (let at = view.indexOf(pair); at >= 0 && found.length < MOST_SITES; at = view.indexOf(pair, at + 1))
          found.push(address + at);
    }
    return found.sort((a, b) => a - b);
  }
  /** The sites of one function, the calls of wrappers among them. */
  #look(of) {
    const flow = controlFlow(this.#elf, this.#code, this.#functions, of);
    followConstants(this.#code, flow, (code, registers) => {
      const made = this.#made(code);
      if (made === void 0 || this.#sites.size >= MOST_SITES) return;
      const value = registers[made.register];
      const given = entryRegister(value);
      const number = given === void 0 ? value : void 0;
      const known2 = number === void 0 ? void 0 : NAMES.get(number);
      this.#sites.set(code.address, {
        address: code.address,
        function: nameOf(of),
        by: made.by,
        ...number !== void 0 ? { number } : { unproven: given === void 0 ? "unknown" : "argument" },
        ...known2 !== void 0 && made.by !== "int 0x80" && made.by !== "sysenter" && { name: known2 }
      });
      if (given !== void 0 && made.by !== "int 0x80" && made.by !== "sysenter")
        this.#wrappers.set(of.address, { register: given, name: nameOf(of) });
    });
  }
  /** Whether the instruction makes a system call, and which register says which. */
  #made({ flow, target, slot, address }) {
    if (flow === Flow.SYSCALL) return { by: this.#instruction(address), register: RAX2 };
    if (flow === Flow.CALL || flow === Flow.JUMP) {
      const wrapper = this.#wrappers.get(target);
      return wrapper && { by: wrapper.name, register: wrapper.register };
    }
    if ((flow === Flow.CALL_INDIRECT || flow === Flow.INDIRECT) && slot !== 0) {
      const name = this.#slots.get(slot);
      return name === void 0 ? void 0 : { by: name, register: RDI };
    }
    return void 0;
  }
  #instruction(address) {
    const region = this.#code.regionAt(address);
    for (let at = address - region.address; at < region.size; at++) {
      const pair = region.bytes[at] * 256 + region.bytes[at + 1];
      if (pair === 3845) return "syscall";
      if (pair === 3892) return "sysenter";
      if (pair === 52608) return "int 0x80";
    }
    return "syscall";
  }
  /** In a function, but where no way that is known leads to: a site if the function's code, read in order, has it. */
  #unreached(address) {
    const owner = this.#functions.at(address);
    if (owner === void 0) return;
    const code = this.#code;
    code.seek(owner.address);
    while (code.next() && code.address < address) ;
    if (code.address !== address || code.flow !== Flow.SYSCALL) return;
    const by = this.#instruction(address);
    this.#sites.set(address, { address, function: nameOf(owner), by, unproven: "unknown" });
  }
  /** The C library's own syscall(). */
  #imports() {
    for (const { address, symbol } of this.#elf.plt)
      if (symbol === "syscall") this.#wrappers.set(address, { register: RDI, name: "syscall()" });
    for (const { address, symbol } of this.#elf.relocations)
      if (symbol === "syscall") this.#slots.set(address, "syscall()");
  }
  /** Those who call wrappers; some are wrappers themselves. */
  #callers() {
    const done = /* @__PURE__ */ new Set();
    for (let round = 0; round < MOST_ROUNDS2; round++) {
      const fresh = new Set([...this.#wrappers.keys()].filter((address) => !done.has(address)));
      if (fresh.size === 0 && (round > 0 || this.#slots.size === 0)) return;
      const callers = /* @__PURE__ */ new Set();
      for (const { from, to } of [...this.#functions.calls, ...this.#functions.jumps]) {
        if (!fresh.has(to)) continue;
        const caller = this.#functions.at(from);
        if (caller !== void 0) callers.add(caller);
      }
      if (round === 0)
        for (const { from, slot } of this.#functions.slotCalls) {
          const caller = this.#slots.has(slot) ? this.#functions.at(from) : void 0;
          if (caller !== void 0) callers.add(caller);
        }
      for (const address of fresh) done.add(address);
      for (const caller of callers)
        if (!this.#elf.plt.some(({ address }) => address === caller.address)) this.#look(caller);
    }
  }
};
var PAIRS = [
  [15, 5],
  [15, 52],
  [205, 128]
].map((pair) => Buffer.from(pair));
var nameOf = ({ name, address }) => name ?? `0x${address.toString(16)}`;

// ../sc.ts
for (const f of process.argv.slice(2)) {
  const e = Elf.open(f);
  const c = new MachineCode(e);
  const r = recoverFunctions(e, c);
  const t = performance.now();
  const s = syscallSites(e, c, r);
  console.log(f, "sites", s.sites.length, "proven", s.sites.filter((x) => x.number !== void 0).length, "arg", s.sites.filter((x) => x.unproven === "argument").length, "unk", s.sites.filter((x) => x.unproven === "unknown").length, "else", s.elsewhere, performance.now() - t | 0);
  console.log(s.sites.filter((x) => x.unproven).slice(0, 12).map((x) => x.address.toString(16) + " " + x.function + " " + x.by + " " + x.unproven).join("\n"));
  console.log([...new Set(s.sites.map((x) => x.name))].slice(0, 30).join(" "));
  if (s.sites.length < 30) console.log(s.sites);
}
