import { FLAG_HEADERS, FLAG_TABLES } from "./flag-tables.mjs";

/** { tables: name -> { kind, enumMask?, values }, constants: every value by name }. */
export function collectFlags(headers) {
  const uapi = uapiConstants(headers);
  const tables = {};
  const constants = {};
  for (const [name, spec] of Object.entries(FLAG_TABLES)) {
    tables[name] = table(name, spec, spec.from ? headers.textConstants(spec.from) : uapi);
    Object.assign(constants, tables[name].values);
  }
  return { tables, constants };
}

function uapiConstants(headers) {
  const wanted = headers
    .constantNames(FLAG_HEADERS)
    .filter((name) => Object.values(FLAG_TABLES).some((spec) => !spec.from && selects(spec, name)));
  return headers.evaluate(FLAG_HEADERS, Object.fromEntries(wanted.map((name) => [name, name])));
}

function selects(spec, name) {
  if (spec.not?.includes(name)) return false;
  return Array.isArray(spec.names) ? spec.names.includes(name) : spec.names.test(name);
}

function table(name, spec, constants) {
  const chosen = Array.isArray(spec.names)
    ? spec.names
    : Object.keys(constants).filter((key) => selects(spec, key));
  const entries = chosen
    .filter((key) => !spec.only || spec.only(key, constants[key]))
    .map((key) => {
      if (constants[key] === undefined) throw new Error(`flag table "${name}": no ${key} in the headers`);
      // Bits are unsigned; enumerations keep their sign (RUSAGE_CHILDREN is -1).
      const value = spec.kind === "bits" && constants[key] < 0 ? constants[key] >>> 0 : constants[key];
      return [spec.rename ? key.replace(...spec.rename) : key, value];
    });
  for (const [key, value] of Object.entries(spec.add ?? {})) {
    if (!entries.some(([existing]) => existing === key)) entries.push([key, value]);
  }
  if (entries.length === 0) throw new Error(`flag table "${name}" is empty`);
  entries.sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
  const result = { kind: spec.kind, values: Object.fromEntries(entries) };
  if (spec.mask) result.enumMask = spec.mask;
  return result;
}
