import { chromium } from "./works/chromium.mjs";
import { createInTmpfs, createOnDisk } from "./works/create.mjs";
import { day } from "./works/day.mjs";
import { find } from "./works/find.mjs";
import { gcc } from "./works/gcc.mjs";
import { git } from "./works/git.mjs";
import { http } from "./works/http.mjs";
import { npm } from "./works/npm.mjs";
import { programs } from "./works/programs.mjs";
import { python } from "./works/python.mjs";
import { redis } from "./works/redis.mjs";
import { sqlite } from "./works/sqlite.mjs";
import { tar } from "./works/tar.mjs";
import { untarInTmpfs, untarOnDisk } from "./works/untar.mjs";

/**
 * Real workloads, each in two sizes: "full", of some seconds, so that the start matters less, and "quick". `prepare` runs
 * once, `reset` before each run, `check` after it: it throws if the results are wrong. `argv` is the command. A `server`
 * runs under the system and gets its load from outside; the time of the load is measured. `medium`: where its files must be.
 */
export const WORKS = [
  ...[gcc, git, npm, python, tar, untarOnDisk, untarInTmpfs, createOnDisk, createInTmpfs, find],
  ...[programs, sqlite, day, redis, http, chromium],
];
