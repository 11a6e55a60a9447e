import { rules } from "./rule.js";

/** Rules on code that nobody has read, on secrets, on what leaves the machine and what stays on it. */
export const INTRUSION_RULES = rules({
  // Code nobody has read
  "pipe-to-shell": {
    legacy: ["curl_pipe_sh"],
    effect: "executes",
    standard: "deny",
    reason: "This runs whatever a server answers.",
    instead: "Download it, read it, then run it.",
  },
  "download-and-run": {
    effect: "executes",
    standard: "ask",
    reason: "This runs a file that it has just downloaded.",
  },
  "pipe-to-interpreter": {
    key: "shell injection",
    legacy: ["pipe_to_shell"],
    effect: "executes",
    standard: "ask",
    reason: "This runs the output of another program as a script.",
  },
  "encoded-shell": {
    legacy: ["base64_shell", "encoded_command"],
    effect: "executes",
    standard: "deny",
    reason: "This runs a script that was encoded so that nobody can read it.",
    instead: "Write the command as it is.",
  },
  "bare-eval": {
    key: "eval",
    legacy: ["eval"],
    effect: "executes",
    standard: "deny",
    reason: "eval runs text as a command.",
    instead: "Write the command as it is.",
  },
  "replace-shell": {
    key: "exec",
    legacy: ["exec"],
    effect: "executes",
    standard: "ask",
    strict: "deny",
    reason: "exec puts another program in the shell's place.",
  },
  "dynamic-command": {
    effect: "executes",
    standard: "ask",
    reason: "Which program this runs is only known when it runs.",
  },
  "dynamic-code": {
    effect: "executes",
    standard: "ask",
    reason: "What this script does is only known when it runs.",
  },
  "hidden-command": {
    effect: "executes",
    standard: "ask",
    reason: "Words of this read as a command that would be refused, and the program may run it.",
  },
  "inline-code": {
    effect: "executes",
    standard: "ask",
    reason: "This code does what a command like it would be asked about.",
  },
  "hostile-code": {
    effect: "executes",
    standard: "deny",
    reason: "This code opens a shell to somebody else, or hides what it runs.",
  },
  hijack: {
    effect: "executes",
    standard: "ask",
    reason: "This makes other programs load or run something of its own.",
  },
  "run-from-temp": {
    key: "run from a temporary folder",
    effect: "executes",
    standard: "ask",
    reason: "This runs a program from a folder where anybody can put one.",
  },
  "shell-escape": {
    effect: "executes",
    standard: "ask",
    reason: "This program is used to start another one in an unusual way.",
  },
  // Secrets
  "secret-dump": {
    legacy: ["printenv", "env_dump"],
    effect: "secrets",
    standard: "deny",
    reason: "This prints the environment, with the secrets in it.",
    instead: "Print the one variable that is needed: printenv PATH.",
  },
  "secret-read": {
    legacy: ["cat_env"],
    effect: "secrets",
    standard: "deny",
    reason: "This reads a file that holds credentials.",
  },
  "secret-variable": {
    legacy: ["echo_key"],
    effect: "secrets",
    standard: "deny",
    reason: "This prints a secret variable.",
  },
  "secret-sent": {
    effect: "secrets",
    standard: "ask",
    reason: "This sends a secret variable to another machine.",
  },
  "secret-store": {
    effect: "secrets",
    standard: "deny",
    reason: "This takes secrets out of where they are kept.",
  },
  "private-data": {
    effect: "secrets",
    standard: "ask",
    reason: "This reads what says much about the person or the machine.",
  },
  "process-memory": {
    effect: "secrets",
    standard: "deny",
    reason: "This reads the memory or the environment of another process.",
  },
  // Outward
  publish: {
    legacy: ["git_push", "npm_publish", "deploy"],
    effect: "publishes",
    standard: "deny",
    reason: "This publishes or deploys something.",
    instead: "Leave publishing to a person.",
  },
  "remote-change": {
    effect: "publishes",
    standard: "ask",
    reason: "This changes something on other machines, or in an account.",
  },
  "auth-mutation": {
    legacy: ["npm_login", "npm_token"],
    effect: "secrets",
    standard: "deny",
    reason: "This logs in or out, or makes, changes or shows access tokens.",
  },
  "reverse-shell": {
    effect: "network",
    standard: "deny",
    reason: "This connects a shell to the network.",
  },
  exfiltration: {
    key: "upload",
    effect: "network",
    standard: "ask",
    reason: "This sends files or output to another machine.",
  },
  "secret-exfiltration": {
    key: "send secrets",
    effect: "network",
    standard: "deny",
    reason: "This sends secrets to another machine.",
  },
  "remote-shell": {
    effect: "network",
    standard: "ask",
    reason: "This runs commands on another machine.",
  },
  listen: {
    effect: "network",
    standard: "ask",
    reason: "This lets others connect to this machine.",
  },
  scan: { key: "scan", effect: "network", standard: "ask", reason: "This scans or overhears a network." },
  "attack-tool": {
    effect: "network",
    standard: "deny",
    reason: "This is a tool to break into machines.",
  },
  "internal-address": {
    effect: "network",
    standard: "deny",
    reason: "This asks a cloud's metadata service, which hands out credentials.",
  },
  "private-address": {
    effect: "network",
    standard: "ask",
    reason: "This reaches into the private network.",
  },
  // Staying
  persistence: {
    effect: "persists",
    standard: "deny",
    reason: "This makes something run again later, or lets somebody in later.",
  },
  "startup-file": {
    effect: "persists",
    standard: "ask",
    reason: "This changes what runs whenever a shell, an editor or git starts.",
  },
  schedule: {
    effect: "persists",
    standard: "ask",
    reason: "This has something run later, when nobody looks.",
  },
  "hide-traces": {
    effect: "hides",
    standard: "deny",
    reason: "This removes the traces of what was done.",
  },
  backdate: {
    effect: "hides",
    standard: "ask",
    reason: "This gives a file the date of another one.",
  },
  "self-modification": {
    key: "self-modification",
    legacy: ["hermes_update", "gateway_run"],
    effect: "persists",
    standard: "deny",
    reason: "This changes, restarts or switches off what watches over the agent.",
  },
  "agent-instructions": {
    effect: "persists",
    standard: "ask",
    reason: "This changes what agents are told to do.",
  },
  // Disguise
  "hidden-characters": {
    effect: "hides",
    standard: "deny",
    reason: "There are invisible or control characters in this: it does not say what it seems to say.",
  },
  "look-alike": {
    key: "look-alike characters",
    effect: "hides",
    standard: "deny",
    reason: "A program's name is written with letters that only look like the usual ones.",
  },
  obfuscated: {
    effect: "hides",
    standard: "ask",
    reason: "This is written so that it is hard to see what it runs.",
  },
  "syntax-error": {
    effect: "unknown",
    standard: "ask",
    reason: "A shell would not read this as it is meant to be read.",
  },
  "too-complex": {
    effect: "unknown",
    standard: "deny",
    reason: "This is too large, or nested too deep, to be judged.",
  },
  "not-listed": {
    effect: "unknown",
    standard: "allow",
    strict: "ask",
    reason: "This is not on the list of commands that run without asking.",
  },
});
