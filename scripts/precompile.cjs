// node -r scripts/precompile.cjs …: at exit, writes V8's code cache of each bundle beside it (src/nouns/compiled.ts).
const { writeFileSync } = require("node:fs");
const vm = require("node:vm");
const threads = require("node:worker_threads");

const SUFFIX = `${process.versions.v8}-${process.arch}.cache`;
const scripts = new Map();
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options);
    if (!options.cachedData) scripts.set(`${options.filename}.${SUFFIX}`, this);
  }
};

function keep() {
  for (const [file, script] of scripts) writeFileSync(file, script.createCachedData());
}

process.on("exit", keep);
// HERMES exits without Node's knowledge, from any of its threads; by then each has closed its session.
const { dlopen } = process;
process.dlopen = (module, ...rest) => {
  dlopen.call(process, module, ...rest);
  const keeping = (act) => ({
    value: (...given) => {
      keep();
      return act(...given);
    },
  });
  const { close, exitNow } = module.exports;
  module.exports = Object.create(module.exports, { close: keeping(close), exitNow: keeping(exitNow) });
};
if (threads.isMainThread)
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      super(__filename, { ...options, workerData: { ...options.workerData, bundle: file } });
    }
  };
else if (threads.workerData?.bundle) require(threads.workerData.bundle);
