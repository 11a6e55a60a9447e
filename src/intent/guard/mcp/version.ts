/** Orders two versions as npm and PyPI would, closely enough for the ranges of advisories. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < Math.max(left.numbers.length, right.numbers.length); i++) {
    const difference = (left.numbers[i] ?? 0) - (right.numbers[i] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  // A pre-release comes before its release.
  if (left.rest === right.rest) return 0;
  if (left.rest === "") return 1;
  if (right.rest === "") return -1;
  return left.rest < right.rest ? -1 : 1;
}

function parts(version: string): { numbers: number[]; rest: string } {
  const [, head = "0", rest = ""] = /^v?=?(\d+(?:\.\d+)*)(.*)$/.exec(version.trim()) ?? [];
  return { numbers: head.split(".").map(Number), rest: rest.replace(/^[-.]?/, "").replace(/\+.*$/, "") };
}

/** Whether a version names exactly one release. */
export function isExact(version: string | undefined): version is string {
  return (
    version !== undefined && /^v?=?\d+(?:\.\d+){1,3}(?:[-.]?[0-9a-z][\w.-]*)?(?:\+[\w.]+)?$/i.test(version)
  );
}
