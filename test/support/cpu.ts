/** How much CPU time this process has used, in milliseconds: other than a clock, it does not run while others have the CPU. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
