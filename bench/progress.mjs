const shown = process.stderr.isTTY === true;

/** What is being measured, on a terminal, in one line that the next table takes the place of. */
export function progress(text) {
  if (shown) process.stderr.write(`\r\x1b[K${text}`);
}
