const ALIASES = new Set(["SIGIOT", "SIGPOLL", "SIGLOST", "SIGUNUSED", "SIGSTKSZ"]);

/** [{ name, number, alias }]: the 31 classic ones, then the real-time range as user space counts it. */
export function collectSignals(headers) {
  const file = headers.read("arch/x86/include/uapi/asm/signal.h").replace(/\/\*[\s\S]*?\*\//g, "");
  const rows = [];
  for (const [, name, value] of file.matchAll(/^#define (SIG[A-Z0-9]+)\s+(\w+)\s*$/gm)) {
    if (name === "SIGRTMIN" || name === "SIGRTMAX") continue;
    const number = /^\d+$/.test(value) ? Number(value) : rows.find((row) => row.name === value)?.number;
    if (!number || number > 31) continue;
    rows.push({ name, number, alias: ALIASES.has(name) });
  }
  // The kernel's range is 32..64. glibc keeps 32 and 33 to itself, so everybody's SIGRTMIN is 34 (signal(7)).
  rows.push({ name: "SIGRT_32", number: 32, alias: false }, { name: "SIGRT_33", number: 33, alias: false });
  for (let number = 34; number <= 64; number++) {
    const name = number === 34 ? "SIGRTMIN" : number === 64 ? "SIGRTMAX" : `SIGRTMIN+${number - 34}`;
    rows.push({ name, number, alias: false });
  }
  return rows.sort((a, b) => a.number - b.number || Number(a.alias) - Number(b.alias));
}
