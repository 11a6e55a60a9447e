import { CredentialThenConnect } from "./credentials.js";
import { CoveredTracks, FailedOpens, MassDeletion, Persistence } from "./files.js";
import { Beaconing, MetadataService, PortScan } from "./network.js";
import type { BehaviourPatternMaker } from "./pattern.js";
import { LooksIntoOthers, Probing } from "./processes.js";
import { RemoteShell, SelfDeletion, UnusualPlace, WriteThenExec } from "./programs.js";
import { RefusedAttempts } from "./refused.js";

/** Behaviour worth a second look. Adding one is adding a class and a row here. */
export const PATTERNS: readonly BehaviourPatternMaker[] = [
  RefusedAttempts,
  CredentialThenConnect,
  RemoteShell,
  WriteThenExec,
  SelfDeletion,
  UnusualPlace,
  Beaconing,
  PortScan,
  MetadataService,
  Persistence,
  CoveredTracks,
  MassDeletion,
  FailedOpens,
  LooksIntoOthers,
  Probing,
];
