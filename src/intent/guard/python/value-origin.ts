import { knownText, options, type PyValue } from "./value.js";

/** Calls that return the contents of a file. */
const OPENS =
  /^(?:builtins\.(?:open|file)|io\.(?:open|FileIO)|gzip\.open|bz2\.open|lzma\.open|codecs\.open)$/;
const READS = /^\.(?:read|readline|readlines|read_text|read_bytes|open|getvalue)$/;
/** Other data of the machine and its user. */
const OWN =
  /^(?:os\.(?:popen|getenv|listdir|environ)|subprocess\.|getpass\.|platform\.|socket\.gethostname|glob\.|\.communicate)/;
const FETCHES = /^(?:requests|httpx|urllib|urllib2|urllib3|aiohttp|http\.client|socket)\./;

const some = (value: PyValue, test: (value: PyValue) => boolean): boolean =>
  options(value).some(
    (option) =>
      test(option) ||
      (option.t === "result" && option.args.some((arg) => some(arg, test))) ||
      (option.t === "member" && some(option.of, test)) ||
      (option.t === "list" && option.items.slice(0, 64).some((item) => some(item, test))) ||
      (option.t === "dict" && [...option.entries.values()].slice(0, 64).some((item) => some(item, test))),
  );

/** From a file that the script itself opened. */
export function isFromFile(value: PyValue): boolean {
  return some(
    value,
    (option) =>
      option.t === "path" ||
      option.t === "temporary" ||
      (option.t === "result" && (OPENS.test(option.of) || option.of === "pathlib.Path")),
  );
}

/** From the machine or its user: files, variables, output of programs. */
export function isOwn(value: PyValue): boolean {
  return some(
    value,
    (option) =>
      option.t === "environ" ||
      (option.t === "result" &&
        (OWN.test(option.of) || OPENS.test(option.of) || (READS.test(option.of) && isFromFile(option)))),
  );
}

/** From the network, or written into the script as bytes. */
export function isForeign(value: PyValue): boolean {
  return (
    knownText(value) !== undefined ||
    some(value, (option) => option.t === "result" && FETCHES.test(option.of))
  );
}
