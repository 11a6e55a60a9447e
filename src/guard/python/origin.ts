import { options, textOf, type Value } from "./value.js";

/** What gives the contents of a file, when it is called. */
const OPENS =
  /^(?:builtins\.(?:open|file)|io\.(?:open|FileIO)|gzip\.open|bz2\.open|lzma\.open|codecs\.open)$/;
const READS = /^\.(?:read|readline|readlines|read_text|read_bytes|open|getvalue)$/;
/** What else belongs to the machine and its user. */
const OWN =
  /^(?:os\.(?:popen|getenv|listdir|environ)|subprocess\.|getpass\.|platform\.|socket\.gethostname|glob\.|\.communicate)/;
const FETCHES = /^(?:requests|httpx|urllib|urllib2|urllib3|aiohttp|http\.client|socket)\./;

const some = (value: Value, test: (value: Value) => boolean): boolean =>
  options(value).some(
    (option) =>
      test(option) ||
      (option.t === "result" && option.args.some((arg) => some(arg, test))) ||
      (option.t === "member" && some(option.of, test)) ||
      (option.t === "list" && option.items.slice(0, 64).some((item) => some(item, test))) ||
      (option.t === "dict" && [...option.entries.values()].slice(0, 64).some((item) => some(item, test))),
  );

/** From a file that the script opened itself. */
export function isFromFile(value: Value): boolean {
  return some(
    value,
    (option) =>
      option.t === "path" ||
      option.t === "temporary" ||
      (option.t === "result" && (OPENS.test(option.of) || option.of === "pathlib.Path")),
  );
}

/** From what belongs to the machine or its user: files, variables, what programs print. */
export function isOwn(value: Value): boolean {
  return some(
    value,
    (option) =>
      option.t === "environ" ||
      (option.t === "result" &&
        (OWN.test(option.of) || OPENS.test(option.of) || (READS.test(option.of) && isFromFile(option)))),
  );
}

/** From the network, or written into the script as bytes. */
export function isForeign(value: Value): boolean {
  return (
    textOf(value) !== undefined || some(value, (option) => option.t === "result" && FETCHES.test(option.of))
  );
}
