const shown = process.stderr.isTTY === true;

/** The current measurement, in one line on a terminal, which the next table overwrites. */
export function progress(text) {
  if (shown) process.stderr.write(`\r\x1b[K${text}`);
}
