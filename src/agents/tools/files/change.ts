import { redact } from "../../../intent/guard/credentials/secrets.js";
import type { Warning } from "../../../intent/guard/files/tracker.js";
import { type Finding, findings } from "../../../intent/guard/finding.js";
import { counted } from "../../../nouns/counted.js";
import type { ToolCall, ToolContext, ToolIntent } from "../tool.js";
import { ToolError } from "../tool.js";
import { diff } from "./diff.js";
import { type DecodedFile, decodeFile } from "./encoding.js";
import { type FileLocation, leave, locateFile, makeFolders } from "./file-location.js";
import {
  absolute,
  type FileTarget,
  intentOf,
  judgementOf,
  judgeReal,
  mergeJudgements,
  nameIn,
  operationDigest,
  pathSubject,
  requireApproved,
} from "./file-target.js";
import { agentErrorFor, type Pin, stampOf } from "./pin.js";
import { replaceFile } from "./replace.js";

const make = findings("files");

/** Larger than any text that an agent should change in one call. */
const LARGEST = 10 << 20;
const DIFF_SHOWN = 20_000;

/** The change that a tool wants to make to a file. */
export interface FileChange {
  readonly bytes: Buffer;
  /** For the diff. */
  readonly text: string;
  readonly notes: readonly string[];
}

/** The current content. */
export interface Present {
  readonly bytes: Buffer;
  /** Undefined: binary. */
  readonly decoded: DecodedFile | undefined;
}

export interface Changing {
  readonly tool: "write_file" | "patch";
  readonly path: string;
  /** The new content, computed from the old. Throws a ToolError when the change does not apply. */
  change(present: Present | undefined): FileChange;
  /** The tracker warning that refuses the change, if one does. */
  readonly refuses: readonly Warning["rule"][];
}

export interface Changed {
  readonly path: string;
  readonly created: boolean;
  readonly bytes: number;
  readonly notes: readonly string[];
}

/** The change as it would happen. Errors that would make it fail are found here, before a person is asked. */
export function judgeChange(changing: Changing, world: ToolContext): Promise<ToolIntent> {
  const { tool } = changing;
  return withPlace(changing, world, async ({ real, judgement, place, problem }) => {
    const name = nameIn(world, real);
    const about = {
      what: `${tool} ${name}`,
      subject: pathSubject(changing.path, "write"),
      digest: operationDigest(tool, real),
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
        judgement: judgementOf([...judgement.findings, ...stale]),
        digest: operationDigest(tool, real, bytes),
        detail: { path: real, diff: shownDiff(present, text) },
      });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const refused = judgementOf([...judgement.findings, make.deny(error.rule, error.message)]);
      return intentOf({ ...about, judgement: refused });
    }
  });
}

export function runChange(changing: Changing, call: ToolCall, world: ToolContext): Promise<Changed> {
  return withPlace(changing, world, async ({ real, judgement, place, problem }) => {
    if (!place) {
      requireApproved(call, judgement, call.digest);
      throw problem;
    }
    const { bytes, notes } = changing.change(await contentOf(place.existing));
    const stale = staleness(changing, place, world);
    requireApproved(
      call,
      judgementOf([...judgement.findings, ...stale]),
      operationDigest(changing.tool, real, bytes),
    );
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
        ...(names > 1 ? [`The file had ${names} hard links; only this one has the new content.`] : []),
      ],
    };
  });
}

interface Found extends Pick<FileTarget, "real" | "judgement" | "problem"> {
  readonly place?: FileLocation;
}

/** As `withTarget`, for a file that may not exist. */
async function withPlace<T>(
  { path }: Changing,
  world: ToolContext,
  act: (found: Found) => Promise<T>,
): Promise<T> {
  const named = world.guard.check(pathSubject(path, "write"));
  const real = absolute(path, world);
  if (named.action === "deny") return act({ real, judgement: named });
  let place: FileLocation;
  try {
    place = await locateFile(real);
  } catch (error) {
    return act({ real, judgement: named, problem: agentErrorFor(error, path) });
  }
  try {
    const judgement = mergeJudgements(named, judgeReal(place.real, "write", world));
    return await act({ real: place.real, judgement, place });
  } catch (error) {
    throw agentErrorFor(error, path);
  } finally {
    await leave(place);
  }
}

/** Reads as many bytes as the pinned file had. If the file grows meanwhile, the replace step detects it. */
async function contentOf(existing: Pin | undefined): Promise<Present | undefined> {
  if (!existing) return undefined;
  if (existing.info.size > LARGEST)
    throw new ToolError(
      "file-too-large",
      `The file is larger than ${LARGEST >> 20} MB: change it with a command.`,
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

function staleness({ refuses }: Changing, { real, existing }: FileLocation, world: ToolContext): Finding[] {
  const stamp = existing && stampOf(existing.info);
  return world.files
    .beforeWrite(world.session, real, stamp)
    .map(({ rule, reason }) => (refuses.includes(rule) ? make.deny : make.allow)(rule, reason));
}

/** The diff that an approver sees is also stored: it must not contain secrets. */
function shownDiff(present: Present | undefined, text: string): string {
  if (present && !present.decoded)
    return `(replaces ${counted(present.bytes.length, "byte")} of binary data)`;
  const whole = redact(diff(present?.decoded?.text ?? "", text)).text;
  if (whole.length <= DIFF_SHOWN) return whole;
  return `${whole.slice(0, DIFF_SHOWN)}\n(${whole.length - DIFF_SHOWN} more characters)`;
}
