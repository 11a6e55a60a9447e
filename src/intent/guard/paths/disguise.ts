import { components, hasTraversalComponent, isWindowsAbsolute, LONGEST_PATH } from "./components.js";
import { pathReadings, withoutInvisible } from "./readings.js";

/** A spelling whose only purpose is that programs read it differently. */
interface Disguise {
  readonly rule: string;
  readonly reason: string;
  /** Only asks: there are honest names like this. */
  readonly mild?: boolean;
}

const BIDI = /[\u202a-\u202e\u2066-\u2069]/;
const DEVICE = /^(?:CON|PRN|AUX|NUL|COM[0-9¹²³]|LPT[0-9¹²³]|CONIN\$|CONOUT\$|CLOCK\$)$/i;
const SHORT = /^[A-Z0-9_$]{1,6}~[1-9](?:\.[A-Z0-9]{1,3})?$/;

export function disguise(path: string): Disguise | undefined {
  if (path.length > LONGEST_PATH)
    return { rule: "path-too-long", reason: `The path is longer than ${LONGEST_PATH} characters.` };
  if (path.includes("\0") || /%00/.test(path))
    return {
      rule: "nul-byte",
      reason: "A NUL byte ends the path for the kernel, but not for programs that check it.",
    };
  if (BIDI.test(path))
    return { rule: "bidi-path", reason: "Invisible characters change the order in which the name is shown." };
  if (!hasTraversalComponent(path)) {
    const reading = pathReadings(path).find((r) => hasTraversalComponent(r.path) && !isSlashesOnly(r.how));
    if (reading)
      return {
        rule: "disguised-traversal",
        reason: `Without ${reading.how} the path goes up with "..": ${shown(reading.path)}`,
      };
  }
  if (/[\x01-\x1f\x7f]/.test(path))
    return { rule: "control-character", reason: "The name contains control characters.", mild: true };
  // Emoji, Persian and Indic names need joiners; a plain name does not.
  const visible = withoutInvisible(path);
  if (visible !== path && /^[\x20-\x7e]*$/.test(visible))
    return {
      rule: "invisible-character",
      reason: "The name contains invisible characters.",
      mild: true,
    };
  return windows(path);
}

/** In a Windows path a backslash is an ordinary separator; its target is judged with the rest. */
function isSlashesOnly(how: string): boolean {
  return how === "backslashes";
}

function windows(path: string): Disguise | undefined {
  if (/^[\\/]{2}[?.][\\/]|^\\\?\?\\/.test(path))
    return {
      rule: "device-namespace",
      reason: "This spelling reaches Windows devices and bypasses path checks.",
    };
  if (/^\\{2,}[^\\]/.test(path))
    return { rule: "unc-path", reason: "A UNC path makes Windows log in to another machine." };
  if (/:\$(?:DATA|INDEX_ALLOCATION|BITMAP)/i.test(path) || /::\$/.test(path))
    return { rule: "alternate-stream", reason: "This names a data stream hidden behind a file." };
  const parts = components(path);
  const last = parts.at(-1) ?? "";
  const windowsLike = path.includes("\\") || isWindowsAbsolute(path);
  if (/\.\w{1,5}:[A-Za-z_][\w.-]*$/.test(last) && !/^\w+:/.test(last))
    return {
      rule: "alternate-stream",
      reason: "On Windows this names a data stream hidden behind a file.",
      mild: true,
    };
  for (const part of parts) {
    const [stem = ""] = part.split(/[.:]/);
    if (DEVICE.test(stem.trim()) && (windowsLike || isBareDevice(part, stem)))
      return {
        rule: "device-name",
        reason: `On Windows ${part} is a device, in every folder.`,
        mild: !windowsLike,
      };
    if (/^GIT~\d$/i.test(part))
      return { rule: "short-name", reason: `${part} is another name of .git on Windows.` };
    if (SHORT.test(part))
      return {
        rule: "short-name",
        reason: `${part} is the short name of another file on Windows.`,
        mild: true,
      };
  }
  return undefined;
}

/** `aux.c` and `con.py` occur in honest projects; `nul.`, `COM1.log` and `AUX.TXT` do not. */
function isBareDevice(part: string, stem: string): boolean {
  return part.replace(/[. ]+$/, "") === stem || stem === stem.toUpperCase() || /\d$/.test(stem);
}

function shown(path: string): string {
  return JSON.stringify(path.length > 60 ? `${path.slice(0, 60)}…` : path);
}
