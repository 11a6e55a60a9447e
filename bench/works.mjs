import { chromium } from "./works/chromium.mjs";
import { find } from "./works/find.mjs";
import { gcc } from "./works/gcc.mjs";
import { git } from "./works/git.mjs";
import { http } from "./works/http.mjs";
import { npm } from "./works/npm.mjs";
import { python } from "./works/python.mjs";
import { redis } from "./works/redis.mjs";
import { sqlite } from "./works/sqlite.mjs";
import { tar } from "./works/tar.mjs";

/**
 * What people really run, each in two sizes: "full", of some seconds, so that starting is the smaller part of it, and "quick".
 * `prepare` makes what it needs once, `reset` puts it back before each run; `argv` is the command. A `server` is started
 * under the system and loaded from outside: what is measured is how long the load takes.
 */
export const WORKS = [gcc, git, npm, python, tar, find, sqlite, redis, http, chromium];
