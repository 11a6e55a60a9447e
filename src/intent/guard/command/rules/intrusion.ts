import { rules } from "./rule.js";

/** Rules on code that no person has read, on secrets, on what leaves the machine and on what remains on it. */
export const INTRUSION_RULES = rules({
  // Unread code
  "pipe-to-shell": {
    legacy: ["curl_pipe_sh"],
    effect: "executes",
    standard: "deny",
    reason: "This runs what a server sends, unread.",
    instead: "Download it, read it, then run it.",
  },
  "download-and-run": {
    effect: "executes",
    standard: "ask",
    reason: "This runs a file that it has just downloaded.",
    instead: "Download it, read it, then run it.",
  },
  "pipe-to-interpreter": {
    key: "shell injection",
    legacy: ["pipe_to_shell"],
    effect: "executes",
    standard: "ask",
    reason: "This runs the output of another program as a script.",
    instead: "Save the output, read it, then run it.",
  },
  "encoded-shell": {
    legacy: ["base64_shell", "encoded_command"],
    effect: "executes",
    standard: "deny",
    reason: "This decodes a script and runs it.",
    instead: "Write the command in plain text.",
  },
  "bare-eval": {
    key: "eval",
    legacy: ["eval"],
    effect: "executes",
    standard: "deny",
    reason: "eval runs text as a command.",
    instead: "Write the command in plain text.",
  },
  "replace-shell": {
    key: "exec",
    legacy: ["exec"],
    effect: "executes",
    standard: "ask",
    strict: "deny",
    reason: "exec replaces the shell with another program.",
    instead: "Run the program without exec.",
  },
  "dynamic-command": {
    effect: "executes",
    standard: "ask",
    reason: "The program that this runs is known only at run time.",
    instead: "Name the program.",
  },
  "dynamic-code": {
    effect: "executes",
    standard: "ask",
    reason: "What this script does is known only at run time.",
    instead: "Write out the script.",
  },
  "hidden-command": {
    effect: "executes",
    standard: "ask",
    reason: "Some words of this form a command that would be refused, and the program may run it.",
  },
  "inline-code": {
    effect: "executes",
    standard: "ask",
    reason: "This code has effects that a command would need approval for.",
  },
  "hostile-code": {
    effect: "executes",
    standard: "deny",
    reason: "This code opens a remote shell, or hides what it runs.",
  },
  hijack: {
    effect: "executes",
    standard: "ask",
    reason: "This makes other programs load or run other code.",
    instead: "Run the program without these settings.",
  },
  "run-from-temp": {
    key: "run from a temporary folder",
    effect: "executes",
    standard: "ask",
    reason: "This runs a program from a folder that every user can write to.",
    instead: "Run it from the workspace.",
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
    reason: "This prints the environment, including its secrets.",
    instead: "Print only the variable that you need: printenv PATH.",
  },
  "secret-read": {
    legacy: ["cat_env"],
    effect: "secrets",
    standard: "deny",
    reason: "This reads a file that holds credentials.",
    instead: "Ask the user for the one value that you need.",
  },
  "secret-variable": {
    legacy: ["echo_key"],
    effect: "secrets",
    standard: "deny",
    reason: "This prints a secret variable.",
    instead: 'Test whether it is set: [ -n "$NAME" ].',
  },
  "secret-sent": {
    effect: "secrets",
    standard: "ask",
    reason: "This sends a secret variable to another machine.",
  },
  "secret-store": {
    effect: "secrets",
    standard: "deny",
    reason: "This exports secrets from a secret store.",
  },
  "private-data": {
    effect: "secrets",
    standard: "ask",
    reason: "This reads private data about the user or the machine.",
  },
  "process-memory": {
    effect: "secrets",
    standard: "deny",
    reason: "This reads the memory or the environment of another process.",
  },
  // Data and changes that leave the machine
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
  scan: {
    key: "scan",
    effect: "network",
    standard: "ask",
    reason: "This scans a network or captures its traffic.",
  },
  "attack-tool": {
    effect: "network",
    standard: "deny",
    reason: "This is a tool for attacking machines.",
  },
  "internal-address": {
    effect: "network",
    standard: "deny",
    reason: "This asks a cloud's metadata service, which hands out credentials.",
  },
  "private-address": {
    effect: "network",
    standard: "ask",
    reason: "This connects to an address of the private network.",
  },
  // Persistence
  persistence: {
    effect: "persists",
    standard: "deny",
    reason: "This sets up code or access that remains after the run.",
  },
  "startup-file": {
    effect: "persists",
    standard: "ask",
    reason: "This changes what runs when a shell, an editor or git starts.",
  },
  schedule: {
    effect: "persists",
    standard: "ask",
    reason: "This schedules a program to run later.",
  },
  "hide-traces": {
    effect: "hides",
    standard: "deny",
    reason: "This removes traces of what was done.",
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
    reason: "This changes, restarts or stops what supervises the agent.",
  },
  "agent-instructions": {
    effect: "persists",
    standard: "ask",
    reason: "This changes the instructions of agents.",
  },
  // Disguise
  "hidden-characters": {
    effect: "hides",
    standard: "deny",
    reason: "This contains invisible or control characters: it does not run what it shows.",
    instead: "Write the command in plain ASCII.",
  },
  "look-alike": {
    key: "look-alike characters",
    effect: "hides",
    standard: "deny",
    reason: "The program's name has letters that only look like Latin ones.",
    instead: "Write the name in plain ASCII.",
  },
  obfuscated: {
    effect: "hides",
    standard: "ask",
    reason: "This is written so that it is hard to see what it runs.",
    instead: "Write the command in plain text.",
  },
  "syntax-error": {
    effect: "unknown",
    standard: "ask",
    reason: "The shell syntax is invalid or ambiguous.",
    instead: "Fix the quotes, or split it into simpler commands.",
  },
  "too-complex": {
    effect: "unknown",
    standard: "deny",
    reason: "This is too long, or nested too deep, to be judged.",
    instead: "Split it into smaller commands.",
  },
  "not-listed": {
    effect: "unknown",
    standard: "allow",
    strict: "ask",
    reason: "This is not on the list of commands that run without approval.",
  },
});
