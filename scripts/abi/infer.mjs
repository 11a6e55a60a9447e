/** From a C type and a row of annotations.mjs to an Argument of src/abi/syscall.ts. */
import { C_NAMES } from "./structs.mjs";

const KIND_OF_TYPE = {
  umode_t: "mode",
  pid_t: "pid",
  uid_t: "uid",
  gid_t: "gid",
  size_t: "size",
  loff_t: "offset",
  off_t: "offset",
  int: "int",
  long: "int",
  s32: "int",
  __s32: "int",
  key_t: "int",
  timer_t: "int",
  key_serial_t: "int",
  mqd_t: "fd",
  rwf_t: "flags",
  unsigned: "uint",
  "unsigned int": "uint",
  "unsigned long": "uint",
  u32: "uint",
  __u32: "uint",
  uint32_t: "uint",
  u64: "uint",
  __u64: "uint",
  qid_t: "uint",
  aio_context_t: "address",
  "enum landlock_rule_type": "flags",
};
const WIDE = new Set(["long", "unsigned long", "size_t", "loff_t", "off_t", "u64", "__u64", "aio_context_t"]);
const FD_NAMES = /^(fd|\w+fd|fildes|fd_in|fd_out|fdin|fdout)$/;
const DIRFD_NAMES = /^(dfd|olddfd|newdfd|from_dfd|to_dfd)$/;
// The kernel casts these to int or unsigned int on use even where the prototype says long (fdget(), find_vpid()).
const NARROW_KINDS = new Set(["fd", "dirfd", "pid"]);

export function argument(parameter, token, index, names, constants) {
  const { name, kind, table, options } = parseToken(token);
  if (parameter.name && parameter.name !== name) {
    throw new Error(`argument ${index} is "${parameter.name}" in the header, "${name}" in annotations.mjs`);
  }
  const type = parameter.type.replace(/^const (?=\w+$)/, "");
  const pointer = type.includes("*") || /^(const )?cap_user_\w+_t$/.test(type);
  const inferred = pointer ? pointerKind(type) : scalarKind(type, name);
  const row = {
    name,
    kind: table ? "flags" : (kind ?? inferred.kind),
    width: pointer || WIDE.has(type) ? 64 : 32,
  };
  if (options.width || NARROW_KINDS.has(row.kind)) row.width = 32;
  if (table ?? inferred.flags) row.flags = table ?? inferred.flags;
  if (row.kind === "flags" && !row.flags) throw new Error(`${name}: no flag table named`);
  if (pointer) describePointer(row, type, kind, options);
  reference(row, options, names, constants);
  return row;
}

function scalarKind(type, name) {
  if (type === "clockid_t") return { kind: "flags", flags: "clock" };
  const kind = KIND_OF_TYPE[type];
  if (!kind) throw new Error(`${name}: unknown type "${type}"`);
  if (kind === "int" || kind === "uint") {
    if (DIRFD_NAMES.test(name)) return { kind: "dirfd" };
    if (FD_NAMES.test(name)) return { kind: "fd" };
    if (name === "sig" && type === "int") return { kind: "signal" };
  }
  return { kind };
}

function pointerKind(type) {
  return { kind: /struct|union/.test(type) ? "struct" : undefined };
}

function describePointer(row, type, kind, options) {
  if (!kind && row.kind !== "struct") throw new Error(`${row.name}: ${type} needs a kind`);
  const implied = /^const\b/.test(type) ? "in" : undefined;
  const direction = ["in", "out", "inout"].find((word) => options[word]) ?? implied;
  const text = ["path", "string", "argv"].includes(row.kind);
  if (!direction && !text) throw new Error(`${row.name}: ${type} needs a direction`);
  if (implied && direction !== "in" && row.kind !== "iovec")
    throw new Error(`${row.name}: ${type} is const, not ${direction}`);
  if (direction && direction !== "in") row.direction = direction;
  if (row.kind === "struct") {
    const c =
      options.struct ??
      type
        .replace(/^const /, "")
        .replace(/\s*\*$/, "")
        .replace(/^const /, "");
    row.struct = C_NAMES[c]?.[0] ?? c.replace(/^(struct|union) /, "");
    row.cType = C_NAMES[c]?.[1] ?? c;
  }
}

function reference(row, options, names, constants) {
  const at = (name) => {
    const index = names.indexOf(name);
    if (index < 0) throw new Error(`${row.name}: no argument "${name}"`);
    return index;
  };
  const masked = (text) => {
    const [name, flags] = text.split("&");
    const mask = flags.split("|").reduce((sum, flag) => {
      if (constants[flag] === undefined) throw new Error(`${row.name}: unknown constant ${flag}`);
      return sum | constants[flag];
    }, 0);
    return `${at(name)}:${mask}`;
  };
  const length = options.len ?? options.plen;
  if (length) row.length = at(length);
  if (options.plen) row.lengthIsPointer = true;
  if (options.filled) row.filled = "result";
  if (options.at) row.dirfd = at(options.at);
  if (options.always) row.follow = "always";
  if (options.never) row.follow = "never";
  if (options.unless) row.follow = `unless:${masked(options.unless)}`;
  if (options.if) row.follow = `if:${masked(options.if)}`;
  if (options.nofollowall) row.noFollowAll = masked(options.nofollowall);
  if (options.how) row.how = at(options.how);
  if (row.kind === "path" && !row.follow && row.how === undefined)
    throw new Error(`${row.name}: path without a follow rule`);
  if (options.creates) row.creates = true;
}

/** "filename:path(at=dfd,never)" -> its parts. */
export function parseToken(token) {
  const [, name, sign, word, list] = token.match(/^(\w+)(?:([:=])(\w+)(?:\(([^)]*)\))?)?$/) ?? [];
  if (!name) throw new Error(`cannot read "${token}"`);
  const options = {};
  for (const option of list?.split(",") ?? []) {
    const [, key, value] = option.match(/^(\w+)(?:=(.*))?$/);
    options[key] = value ?? true;
  }
  return { name, kind: sign === ":" ? word : undefined, table: sign === "=" ? word : undefined, options };
}
