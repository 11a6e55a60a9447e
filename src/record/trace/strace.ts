import { type Argument, errnoNumber, errnoText, type Syscall, syscallByName } from "../../abi/index.js";
import { formatAddress, parseAddress } from "../../nouns/address.js";
import { encodeText } from "../../nouns/text.js";
import type { CallRecord, FunctionRecord, RecordedBytes, Rendered } from "./records.js";
import { structText } from "./strace-structs.js";

/** One call as strace writes it, so that people's eyes and tools find what they know. */

export interface CallText {
  /** `-y`: what descriptors refer to. */
  readonly descriptors: boolean;
  /** `-s`: how much of a string is shown. */
  readonly strings: number;
}

/** `openat(AT_FDCWD, "/etc/passwd", O_RDONLY)`. */
export function callText(record: CallRecord, options: CallText): string {
  const call = syscallByName(record.name);
  const args = call ? knownArguments(call, record, options) : Object.values(record.args).map(String);
  return `${record.name}(${args.join(", ")})`;
}

/** `3</etc/passwd>`, `-1 ENOENT (No such file or directory)`, `?`. */
export function resultText(record: CallRecord, options: CallText): string {
  return `${outcome(record, options)}${decisionText(record)}`;
}

function outcome({ name, result, errno, path, opened }: CallRecord, { descriptors }: CallText): string {
  if (result === undefined) return "?";
  if (errno !== undefined) {
    const number = errnoNumber(errno) ?? 0;
    return `${number >= 512 ? "?" : "-1"} ${errno} (${errnoWords(errno) ?? errnoText(number) ?? "unknown"})`;
  }
  const returns = syscallByName(name)?.returns;
  if (returns === "address") return `0x${result.toString(16)}`;
  const target = returns === "fd" ? (opened ?? path) : undefined;
  return descriptors && target !== undefined ? `${result}<${escaped(target)}>` : String(result);
}

/** What HERMES did to it. */
export function decisionText({ action, policy, rule, reason }: CallRecord | FunctionRecord): string {
  if (policy === undefined) return "";
  const who = rule === undefined ? policy : `${policy}/${rule}`;
  const word = action === "allow" ? "WATCHED" : action.toUpperCase();
  return ` (${word} by ${escaped(who)}${reason === undefined ? "" : `: ${escaped(reason)}`})`;
}

/** strace speaks with the C library's words, which differ from the kernel's here and there. */
const GLIBC: Readonly<Record<string, string>> = {
  EIO: "Input/output error",
  EBADF: "Bad file descriptor",
  EAGAIN: "Resource temporarily unavailable",
  ENOMEM: "Cannot allocate memory",
  EXDEV: "Invalid cross-device link",
  ENFILE: "Too many open files in system",
  ENOTTY: "Inappropriate ioctl for device",
  EDOM: "Numerical argument out of domain",
  ERANGE: "Numerical result out of range",
  EDEADLK: "Resource deadlock avoided",
  ENOLCK: "No locks available",
  ENOSYS: "Function not implemented",
  ELOOP: "Too many levels of symbolic links",
  EBADMSG: "Bad message",
  EILSEQ: "Invalid or incomplete multibyte or wide character",
  EOPNOTSUPP: "Operation not supported",
  ENETRESET: "Network dropped connection on reset",
  EDQUOT: "Disk quota exceeded",
  ECANCELED: "Operation canceled",
  ERESTARTSYS: "To be restarted if SA_RESTART is set",
  ERESTARTNOINTR: "To be restarted",
  ERESTARTNOHAND: "To be restarted if no handler",
  ERESTART_RESTARTBLOCK: "Interrupted by signal",
};

/** Where they are other words. */
export function errnoWords(errno: string): string | undefined {
  return GLIBC[errno];
}

function knownArguments(call: Syscall, record: CallRecord, options: CallText): string[] {
  const descriptor = call.args.findIndex((a) => a.kind === "fd" || a.kind === "dirfd");
  return call.args
    .filter((argument) => !isUnused(argument, record))
    .map((argument) => {
      const text = argumentText(argument, record.args[argument.name], options);
      const named = options.descriptors && call.args[descriptor] === argument && record.target !== undefined;
      return named && text !== "AT_FDCWD" ? `${text}<${escaped(record.target!)}>` : text;
    });
}

/** open's mode counts only when it can make a file. */
function isUnused(argument: Argument, { name, args }: CallRecord): boolean {
  if (argument.kind !== "mode" || (name !== "open" && name !== "openat")) return false;
  return !/O_CREAT|O_TMPFILE/.test(String(args.flags));
}

function argumentText(argument: Argument, value: Rendered | undefined, options: CallText): string {
  // An out argument of a call that failed: what the pointer was is not recorded.
  if (value === undefined) return "?";
  if (value === null || value === "0x0") return "NULL";
  switch (argument.kind) {
    case "path":
      return quote(String(value), Number.POSITIVE_INFINITY);
    case "string":
      return quote(String(value), options.strings);
    case "argv":
      return Array.isArray(value)
        ? `[${value.map((word) => quote(word, Number.POSITIVE_INFINITY)).join(", ")}]`
        : `[/* ${value} vars */]`;
    case "sockaddr":
      return addressText(String(value));
    case "fds":
      return `[${String(value).replace(",", ", ")}]`;
    case "buffer":
      return bytesText(value as RecordedBytes, options.strings);
    case "iovec":
      return `[${vectorText(value as RecordedBytes, options.strings)}]`;
    case "msghdr":
    case "mmsghdr":
      return `{msg_iov=[${vectorText(value as RecordedBytes, options.strings)}]}`;
    case "struct":
      return structText(argument.struct, String(value));
    default:
      return String(value);
  }
}

function vectorText(bytes: RecordedBytes, limit: number): string {
  const length = typeof bytes === "string" ? encodeText(bytes).length : bytes.length;
  return `{iov_base=${bytesText(bytes, limit)}, iov_len=${length}}`;
}

function bytesText(bytes: RecordedBytes, limit: number): string {
  return typeof bytes === "string" ? quote(bytes, limit) : `${quote(bytes.start, limit, true)}`;
}

const ESCAPES: Readonly<Record<number, string>> = {
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

/** Names come from the program, and may hold what a terminal obeys. */
function escaped(text: string): string {
  return quote(text, Number.POSITIVE_INFINITY).slice(1, -1);
}

/** A C string; bytes that are not ASCII in octal, shortened when the next character cannot be taken for a digit. */
export function quote(text: string, limit: number, isCut = false): string {
  const bytes = encodeText(text);
  const shown = bytes.subarray(0, Math.min(bytes.length, limit));
  let quoted = "";
  for (let i = 0; i < shown.length; i++) {
    const byte = shown[i]!;
    const known = ESCAPES[byte];
    if (known !== undefined) quoted += known;
    else if (byte >= 0x20 && byte < 0x7f) quoted += String.fromCharCode(byte);
    else {
      const next = shown[i + 1];
      const wide = next !== undefined && next >= 0x30 && next <= 0x37;
      quoted += `\\${wide ? byte.toString(8).padStart(3, "0") : byte.toString(8)}`;
    }
  }
  return `"${quoted}"${isCut || shown.length < bytes.length ? "..." : ""}`;
}

function addressText(text: string): string {
  const address = parseAddress(text);
  if (address?.family === "ipv4")
    return `{sa_family=AF_INET, sin_port=htons(${address.port}), sin_addr=inet_addr("${address.host}")}`;
  if (address?.family === "ipv6")
    return `{sa_family=AF_INET6, sin6_port=htons(${address.port}), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "${address.host}", &sin6_addr), sin6_scope_id=${address.scope ?? 0}}`;
  if (address?.family !== "unix") return `{${address ? formatAddress(address) : text}}`;
  if (address.path === "") return "{sa_family=AF_UNIX}";
  return `{sa_family=AF_UNIX, sun_path=${address.abstract ? "@" : ""}${quote(address.path, 108)}}`;
}
