#!/usr/bin/env node
/**
 * Generates src/abi/*.generated.ts from the kernel's headers and the tables beside this file.
 *
 *   node scripts/abi/generate.mjs [--headers DIR] [--out DIR]
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { collectErrnos } from "./errnos.mjs";
import { collectFlags } from "./flags.mjs";
import { findHeaders, Headers, missingHeaders, SERIES } from "./headers.mjs";
import { renderArguments, renderErrnos, renderFlags, renderSignals, renderSyscalls } from "./render.mjs";
import { collectSignals } from "./signals.mjs";
import { collectSyscalls } from "./syscalls.mjs";

const { values: options } = parseArgs({ options: { headers: { type: "string" }, out: { type: "string" } } });
const path = options.headers ?? findHeaders();
if (!path || !existsSync(join(path, "include/linux/syscalls.h"))) {
  console.error(missingHeaders(options.headers));
  process.exit(1);
}
const headers = new Headers(path);
if (headers.series !== SERIES) {
  console.error(`Note: ${path} is Linux ${headers.series}; the committed tables come from ${SERIES}.`);
}

const { tables, constants } = collectFlags(headers);
const syscalls = collectSyscalls(headers, tables, constants);
const out = options.out ?? fileURLToPath(new URL("../../src/abi", import.meta.url));
const files = {
  "syscalls.generated.ts": renderSyscalls(syscalls, headers.series),
  "arguments.generated.ts": renderArguments(syscalls, headers.series),
  "flags.generated.ts": renderFlags(tables, headers.series),
  "errnos.generated.ts": renderErrnos(collectErrnos(headers), headers.series),
  "signals.generated.ts": renderSignals(collectSignals(headers), headers.series),
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(out, name), text);
console.error(
  `${syscalls.length} system calls, ${Object.keys(tables).length} flag tables (Linux ${headers.series} headers)`,
);
