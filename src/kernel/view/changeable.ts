import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { commonFolders, isAtOrBelow, outermost } from "../../nouns/path.js";
import { BY_DESCRIPTOR, BY_DESCRIPTOR_OR_PATH } from "../../policy/call-effects.js";
import type { NotStatic, OpenFileRules, Policy, ReadRules } from "../../policy/policy.js";
import type { MountChange } from "../binding/fence-plan.js";
import type { VisiblePlaces } from "./view.js";

/**
 * Where the program may change files that it has open, so that a mount can refuse it elsewhere (`EROFS`). A file is
 * opened for reading without a stop, and its mode, owner, times and attributes can be changed by any descriptor.
 */
export function changeablePlaces(
  examined: readonly { readonly policy: Policy; readonly rules: ReadRules | NotStatic | undefined }[],
  { own, exposed, writable, handedOver = [], home }: VisiblePlaces,
): OpenFileRules | NotStatic {
  let places: readonly string[] | undefined;
  for (const { policy, rules } of examined) {
    const found = rules && !("why" in rules) ? rules.openFiles : ofOthers(policy);
    if ("why" in found) return { why: `${policy.name}: ${found.why}` };
    places =
      places && found.changeable ? commonFolders(places, found.changeable) : (places ?? found.changeable);
  }
  if (!places) return { changeable: undefined };
  const isIn = (path: string) => places!.some((place) => isAtOrBelow(path, place));
  const mounted = writable?.find((path) => !isIn(path));
  if (mounted) return { why: `the fence lets the program write to ${mounted}` };
  const given = handedOver.find((path) => !isIn(path));
  if (given) return { why: `${given} was opened outside, and is handed over to the program` };
  const isOutside = (path: string) =>
    !own.some((folder) => isAtOrBelow(path, folder)) || exposed.some((shown) => isAtOrBelow(path, shown));
  return existing(places.filter(isOutside), home);
}

/** In this order: a folder that becomes writable may lie in one that does not stay so. */
export function changesBetween(before: readonly string[], after: readonly string[]): readonly MountChange[] {
  const isIn = (path: string, places: readonly string[]) => places.some((place) => isAtOrBelow(path, place));
  return [
    ...before.filter((path) => !isIn(path, after)).map((path): MountChange => ({ kind: "shut", path })),
    ...after.filter((path) => !before.includes(path)).map((path): MountChange => ({ kind: "open", path })),
  ];
}

/** A policy whose rules the view does not hold must not see these calls at all. */
function ofOthers({ subscription }: Policy): OpenFileRules | NotStatic {
  const sees = [...BY_DESCRIPTOR, ...BY_DESCRIPTOR_OR_PATH].some((nr) => subscription.calls.has(nr));
  return sees ? { why: "it decides about calls on descriptors" } : { changeable: undefined };
}

/** Those that can be mounted. Rules are about real paths: a link is another file's name. */
function existing(places: readonly string[], home: string | undefined): OpenFileRules | NotStatic {
  for (const path of places.filter((path) => isNew(path, places)))
    if (home === undefined || !makeHiddenFolder(path, home))
      return { why: `the folder ${path} does not exist yet` };
  const found = outermost(places.filter((path) => realPath(path) === path));
  const file = found.find((path) => !isMountable(path));
  return file === undefined ? { changeable: found } : { why: `${file} is no folder` };
}

/** The program could make it, and no mount could be put there then. */
function isNew(path: string, places: readonly string[]): boolean {
  const above = dirname(path);
  return (
    realPath(path) === undefined &&
    realPath(above) === above &&
    !places.some((place) => place !== path && isAtOrBelow(path, place))
  );
}

/** ~/.cache and its like are made as the programs that use them would. Another folder may be a wrong name. */
function makeHiddenFolder(path: string, home: string): boolean {
  if (!path.startsWith(`${home}/.`)) return false;
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isMountable(path: string): boolean {
  const info = lstatSync(path);
  return info.isDirectory() || info.isCharacterDevice();
}
