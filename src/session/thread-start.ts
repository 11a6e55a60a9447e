/** The entry of a supervisor thread: a single file with a V8 code cache. */
import("./worker.js");
