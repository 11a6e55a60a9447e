import { ANNOTATIONS } from "./annotations.mjs";
import { argument, parseToken } from "./infer.mjs";
import { ENTRY_POINTS, NUMBERS, PROTOTYPES } from "./prototypes.mjs";
import { FIXED_SIZES, STRUCT_HEADERS } from "./structs.mjs";

/** The rows of SYSCALLS, ordered by number. Everything that does not fit together is reported at once. */
export function collectSyscalls(headers, tables, constants) {
  const numbers = { ...NUMBERS, ...headers.numbers() };
  const prototypes = {
    ...headers.prototypes(headers.read("include/linux/syscalls.h")),
    ...headers.prototypes(PROTOTYPES),
  };
  const problems = [];
  const annotated = new Set(ANNOTATIONS.map(([name]) => name));
  for (const name of Object.keys(numbers))
    if (!annotated.has(name)) problems.push(`${name}: no row in annotations.mjs`);
  const rows = [];
  for (const [name, returns, classes, text] of ANNOTATIONS) {
    try {
      rows.push(
        syscall({
          nr: numbers[name],
          name,
          returns,
          classes: classes.split(" "),
          text,
          prototypes,
          tables,
          constants,
        }),
      );
    } catch (error) {
      problems.push(`${name}: ${error.message}`);
    }
  }
  if (problems.length > 0)
    throw new Error(`annotations.mjs and the headers disagree:\n  ${problems.join("\n  ")}`);
  sizeStructs(headers, rows);
  return rows.sort((a, b) => a.nr - b.nr);
}

function syscall({ nr, name, returns, classes, text, prototypes, tables, constants }) {
  if (nr === undefined) throw new Error("no number");
  const parameters = prototypes[ENTRY_POINTS[name] ?? name];
  if (!parameters) throw new Error("no prototype");
  const tokens = text === "" ? [] : text.split(" ");
  if (tokens.length !== parameters.length) {
    const header = parameters.map((parameter) => `${parameter.type} ${parameter.name ?? "?"}`).join(", ");
    throw new Error(`${tokens.length} arguments in annotations.mjs, in the header: ${header}`);
  }
  const names = tokens.map((token) => parseToken(token).name);
  const args = parameters.map((parameter, index) =>
    argument(parameter, tokens[index], index, names, constants),
  );
  for (const arg of args)
    if (arg.flags && !tables[arg.flags]) throw new Error(`no flag table "${arg.flags}"`);
  return { nr, name, args, classes, returns };
}

/** Structs whose length argument gives their size in bytes have size 0; in arrays it is the element's. */
const SIZED_BY_LENGTH = new Set(["size", "usize"]);

function sizeStructs(headers, rows) {
  const structs = rows
    .flatMap((row) => row.args.map((arg) => ({ row, arg })))
    .filter(({ arg }) => arg.struct);
  const fixed = structs.filter(
    ({ row, arg }) => !sizedByLength(row, arg) && FIXED_SIZES[arg.struct] === undefined,
  );
  const types = new Map(fixed.map(({ arg }) => [arg.struct, arg.cType]));
  const keys = [...types.keys()];
  const sizes = headers.evaluate(
    STRUCT_HEADERS,
    Object.fromEntries(keys.map((key, index) => [`s${index}`, `sizeof(${types.get(key)})`])),
  );
  for (const { row, arg } of structs) {
    arg.size = sizedByLength(row, arg)
      ? 0
      : (FIXED_SIZES[arg.struct] ?? sizes[`s${keys.indexOf(arg.struct)}`]);
    delete arg.cType;
  }
}

function sizedByLength(row, arg) {
  return arg.length !== undefined && SIZED_BY_LENGTH.has(row.args[arg.length].name);
}
