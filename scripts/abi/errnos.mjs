/** Errors of the restart machinery, which a tracer sees and user space never does. */
const INTERNAL = {
  ERESTARTSYS: "Restart if SA_RESTART",
  ERESTARTNOINTR: "Restart always",
  ERESTARTNOHAND: "Restart if no handler",
  ERESTART_RESTARTBLOCK: "Restart by calling restart_syscall",
};
const ALIASES = new Set(["EWOULDBLOCK", "EDEADLOCK"]);

/** [{ name, number, text, alias }] in the order of the numbers. */
export function collectErrnos(headers) {
  const rows = [];
  for (const file of ["include/uapi/asm-generic/errno-base.h", "include/uapi/asm-generic/errno.h"]) {
    for (const [, name, value, text] of headers
      .read(file)
      .matchAll(/^#define\s+(E\w+)\s+(\w+)\s*(?:\/\*\s*(.*?)\s*\*\/)?/gm)) {
      if (ALIASES.has(name)) {
        const target = rows.find((row) => row.name === value);
        rows.push({ ...target, name, alias: true });
      } else rows.push({ name, number: Number(value), text, alias: false });
    }
  }
  const kernel = headers.textConstants("include/linux/errno.h");
  for (const [name, text] of Object.entries(INTERNAL))
    rows.push({ name, number: kernel[name], text, alias: false });
  // glibc's name for EOPNOTSUPP; the kernel's ENOTSUPP is 524 and something else.
  rows.push({ ...rows.find((row) => row.name === "EOPNOTSUPP"), name: "ENOTSUP", alias: true });
  return rows.sort((a, b) => a.number - b.number || Number(a.alias) - Number(b.alias));
}
