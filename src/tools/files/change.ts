import { redact } from "../../guard/credentials/secrets.js";
import type { Warning } from "../../guard/files/tracker.js";
import { type Finding, findings } from "../../guard/finding.js";
import type { Call, Intent, World } from "../tool.js";
import { ToolError } from "../tool.js";
import { diff } from "./diff.js";
import { type Decoded, decodeFile } from "./encoding.js";
import { inWords, type Pin, stampOf } from "./pin.js";
import { findPlace, leave, makeFolders, type Place } from "./place.js";
import { replaceFile } from "./replace.js";
import {
  absolute,
  both,
  digestOf,
  hold,
  intentOf,
  judged,
  judgeReal,
  nameIn,
  pathSubject,
  type Target,
} from "./target.js";

const make = findings("files");

/** More than any text that an agent should change in one piece. */
export const LARGEST = 10 << 20;
const DIFF_SHOWN = 20_000;

/** What a tool would make of a file. */
export interface Change {
  readonly bytes: Buffer;
  /** For the diff. */
  readonly text: string;
  readonly notes: readonly string[];
}

/** What is there now. */
export interface Present {
  readonly bytes: Buffer;
  /** Undefined: binary. */
  readonly decoded: Decoded | undefined;
}

export interface Changing {
  readonly tool: "write_file" | "patch";
  readonly path: string;
  /** The new content, from the old one. Throws a ToolError when there can be none. */
  change(present: Present | undefined): Change;
  /** What of the tracker's warnings refuses the change. */
  readonly refuses: readonly Warning["rule"][];
}

export interface Changed {
  readonly path: string;
  readonly created: boolean;
  readonly bytes: number;
  readonly notes: readonly string[];
}

/** What would happen; also what would make it fail, before anybody is asked about it. */
export function judgeChange(changing: Changing, world: World): Promise<Intent> {
  const { tool } = changing;
  return withPlace(changing, world, async ({ real, judgement, place, problem }) => {
    const name = nameIn(world, real);
    const about = {
      what: `${tool} ${name}`,
      subject: pathSubject(changing.path, "write"),
      digest: digestOf(tool, real),
    };
    try {
      if (problem) throw problem;
      if (!place) return intentOf({ ...about, judgement });
      const present = await contentOf(place.existing);
      const { bytes, text } = changing.change(present);
      const stale = staleness(changing, place, world).filter(({ action }) => action === "deny");
      return intentOf({
        ...about,
        what: `${place.existing ? "change" : "create"} ${name} (${bytes.length.toLocaleString("en")} bytes)`,
        judgement: judged([...judgement.findings, ...stale]),
        digest: digestOf(tool, real, bytes),
        detail: { path: real, diff: shownDiff(present, text) },
      });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const refused = judged([...judgement.findings, make.deny(error.rule, error.message)]);
      return intentOf({ ...about, judgement: refused });
    }
  });
}

export function runChange(changing: Changing, call: Call, world: World): Promise<Changed> {
  return withPlace(changing, world, async ({ real, judgement, place, problem }) => {
    if (!place) {
      hold(call, judgement, call.digest);
      throw problem;
    }
    const { bytes, notes } = changing.change(await contentOf(place.existing));
    const stale = staleness(changing, place, world);
    hold(call, judged([...judgement.findings, ...stale]), digestOf(changing.tool, real, bytes));
    const made = await makeFolders(place);
    try {
      world.files.wrote(world.session, real, await replaceFile(made, bytes));
    } finally {
      await leave(made);
    }
    const names = Number(place.existing?.info.nlink ?? 1);
    return {
      path: nameIn(world, real),
      created: place.existing === undefined,
      bytes: bytes.length,
      notes: [
        ...notes,
        ...stale.map(({ reason }) => reason),
        ...(names > 1 ? [`The file had ${names} names; only this one has the new content.`] : []),
      ],
    };
  });
}

interface Found extends Pick<Target, "real" | "judgement" | "problem"> {
  readonly place?: Place;
}

/** As `withTarget`, for a file that need not be there. */
async function withPlace<T>({ path }: Changing, world: World, act: (found: Found) => Promise<T>): Promise<T> {
  const named = world.guard.check(pathSubject(path, "write"));
  const real = absolute(path, world);
  if (named.action === "deny") return act({ real, judgement: named });
  let place: Place;
  try {
    place = await findPlace(real);
  } catch (error) {
    return act({ real, judgement: named, problem: inWords(error, path) });
  }
  try {
    const judgement = both(named, judgeReal(place.real, "write", world));
    return await act({ real: place.real, judgement, place });
  } catch (error) {
    throw inWords(error, path);
  } finally {
    await leave(place);
  }
}

/** As large as it was when it was pinned: a file that grows in between is found out when it is replaced. */
async function contentOf(existing: Pin | undefined): Promise<Present | undefined> {
  if (!existing) return undefined;
  if (existing.info.size > LARGEST)
    throw new ToolError(
      "file-too-large",
      `The file has more than ${LARGEST >> 20} MB: change it with a command.`,
    );
  const handle = await existing.reader();
  try {
    const buffer = Buffer.alloc(Number(existing.info.size));
    let size = 0;
    for (let read = 1; read > 0 && size < buffer.length; size += read)
      ({ bytesRead: read } = await handle.read(buffer, size, buffer.length - size, size));
    const bytes = buffer.subarray(0, size);
    return { bytes, decoded: decodeFile(bytes) };
  } finally {
    await handle.close();
  }
}

function staleness({ refuses }: Changing, { real, existing }: Place, world: World): Finding[] {
  const stamp = existing && stampOf(existing.info);
  return world.files
    .beforeWrite(world.session, real, stamp)
    .map(({ rule, reason }) => (refuses.includes(rule) ? make.deny : make.allow)(rule, reason));
}

/** What an approver sees is stored as well: no secret may be in it. */
function shownDiff(present: Present | undefined, text: string): string {
  if (present && !present.decoded) return `(in place of ${present.bytes.length} bytes that are no text)`;
  const whole = redact(diff(present?.decoded?.text ?? "", text)).text;
  if (whole.length <= DIFF_SHOWN) return whole;
  return `${whole.slice(0, DIFF_SHOWN)}\n(${whole.length - DIFF_SHOWN} characters more)`;
}
