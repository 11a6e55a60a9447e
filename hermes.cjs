#!/usr/bin/env node
// The command line where no program can be run under HERMES: on Windows and macOS it simulates, checks and explains
// policies, and judges commands. On Linux, `hermes` also passes on the state that programs start in.
require("./dist/cli/main.cjs");
