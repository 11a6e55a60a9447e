// precompile.cjs BUNDLE CALL: writes what V8 has compiled of the hook's bundle after judging a call to BUNDLE.cache.
const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, resolve } = require("node:path");
const { Script } = require("node:vm");

const [bundle, call] = process.argv.slice(2);
const file = resolve(bundle);
const text = readFileSync(file, "utf8");
const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
  filename: file,
});
const made = { exports: {} };
script.runInThisContext()(made.exports, createRequire(file), made, file, dirname(file));
made.exports.judgeHere("claude-code", call).then(() => {
  writeFileSync(`${file}.cache`, script.createCachedData());
  process.exit(0);
});
