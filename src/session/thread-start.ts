/** What a supervising thread is started with: all that it does is in one file that V8 has compiled before. */
import("./worker.js");
