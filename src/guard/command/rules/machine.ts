import { rules } from "./rule.js";

/** Rules on what is destroyed, on the machine itself and on who may do what. */
export const MACHINE_RULES = rules({
  // What destroys
  "delete-everything": {
    effect: "deletes",
    standard: "deny",
    reason:
      "This deletes a whole tree that holds more than the agent's own work: the root, a home, a system folder, the workspace or its history.",
    instead: "Name the files that are to go.",
  },
  "recursive-delete": {
    legacy: ["rm_recursive", "rm_rf"],
    effect: "deletes",
    standard: "ask",
    strict: "deny",
    reason: "This deletes a folder with everything in it.",
    instead: "Delete named files, or a build folder such as dist/ or node_modules/.",
  },
  "artefact-delete": {
    key: "recursive delete",
    legacy: ["rm_recursive", "rm_rf"],
    effect: "deletes",
    standard: "allow",
    strict: "deny",
    reason: "This deletes a folder that a build can make again.",
  },
  "delete-outside": {
    key: "delete outside the workspace",
    effect: "deletes",
    standard: "ask",
    strict: "deny",
    reason: "This deletes something outside the workspace.",
  },
  "delete-files": {
    key: "delete many files",
    legacy: ["find_delete", "git_clean"],
    effect: "deletes",
    standard: "ask",
    reason: "This deletes files by a pattern, without naming them.",
  },
  "format-disk": {
    legacy: ["mkfs"],
    effect: "destroys",
    standard: "deny",
    reason: "This formats or repartitions a disk.",
  },
  "raw-device": {
    key: "write to a device",
    legacy: ["dd_device"],
    effect: "destroys",
    standard: "deny",
    reason: "This writes to a device directly, past the file system.",
  },
  "disk-copy": {
    key: "copy disk",
    legacy: ["dd"],
    effect: "writes",
    standard: "ask",
    strict: "deny",
    reason: "dd copies bytes without asking what they overwrite.",
  },
  "sql-destructive": {
    key: "SQL destructive",
    legacy: ["sql_drop", "sql_delete_no_where", "sql_truncate"],
    effect: "deletes",
    standard: "ask",
    reason: "This SQL drops, empties or changes whole tables.",
    instead: "Add a WHERE clause, or let a person run it.",
  },
  "database-destructive": {
    effect: "deletes",
    standard: "ask",
    reason: "This deletes a database or everything in it.",
  },
  "git-destructive": {
    legacy: ["git_reset_hard", "git_push_force"],
    effect: "deletes",
    standard: "ask",
    reason: "This throws away work or history that git cannot bring back.",
    instead: "git stash, or a new branch.",
  },
  "container-destructive": {
    effect: "deletes",
    standard: "ask",
    reason: "This removes containers, images, volumes or clusters with their data.",
  },
  "cloud-destructive": {
    effect: "deletes",
    standard: "deny",
    reason: "This deletes resources in a cloud account.",
  },
  "tool-destructive": {
    effect: "deletes",
    standard: "ask",
    reason:
      "This deletes what another tool keeps: a backup, a database, a cluster, a registry or an account's resources.",
  },
  "empty-file": {
    effect: "deletes",
    standard: "ask",
    reason: "This empties a file that somebody has written.",
  },
  "overwrite-secrets": {
    effect: "writes",
    standard: "ask",
    reason: "This overwrites a file that holds credentials.",
    instead: "Append to it (>>), or change the one line.",
  },
  // Power and the machine
  power: {
    legacy: ["shutdown"],
    effect: "power",
    standard: "deny",
    reason: "This switches the machine off, or restarts it.",
  },
  service: {
    key: "system service",
    legacy: ["systemctl_stop", "systemctl_restart"],
    effect: "services",
    standard: "ask",
    reason: "This starts, stops or changes a system service.",
  },
  kernel: {
    effect: "privilege",
    standard: "deny",
    reason: "This changes the running kernel, or its security settings.",
  },
  mount: {
    effect: "privilege",
    standard: "ask",
    reason: "This changes what is mounted where.",
  },
  firewall: {
    key: "network",
    legacy: ["iptables", "ufw"],
    effect: "network",
    standard: "ask",
    reason: "This changes the firewall or the network's configuration.",
  },
  account: {
    key: "accounts",
    effect: "privilege",
    standard: "deny",
    reason: "This creates or changes accounts, groups or passwords.",
  },
  "force-kill": {
    legacy: ["kill_9"],
    effect: "kills",
    standard: "deny",
    reason: "This kills a process without letting it clean up.",
    instead: "kill PID (SIGTERM).",
  },
  "kill-system": {
    key: "kill everything",
    effect: "kills",
    standard: "deny",
    reason:
      "This ends processes that the agent did not start: all of them, the first one, or what watches over it.",
  },
  "kill-many": {
    key: "kill by pattern",
    effect: "kills",
    standard: "ask",
    reason: "This ends processes by a pattern that may match others' too.",
  },
  "fork-bomb": {
    effect: "exhausts",
    standard: "deny",
    reason: "This starts processes without end.",
  },
  exhaustion: {
    key: "exhaust resources",
    effect: "exhausts",
    standard: "ask",
    reason: "This fills the disk, the memory or the processors without end.",
  },
  // Who may do what
  privilege: {
    key: "privilege escalation",
    legacy: ["sudo", "su"],
    effect: "privilege",
    standard: "deny",
    reason: "This runs something as another user.",
    instead: "Do without, or let a person run it.",
  },
  namespace: {
    key: "namespaces",
    effect: "privilege",
    standard: "ask",
    reason: "This leaves or changes the namespaces or the root folder that a program is held in.",
  },
  "container-escape": {
    effect: "privilege",
    standard: "deny",
    reason: "A container started like this has the host's own rights or files.",
  },
  setuid: {
    effect: "privilege",
    standard: "deny",
    reason: "This gives a program the rights of another user or of the kernel.",
  },
  "open-permissions": {
    legacy: ["chmod_777"],
    effect: "writes",
    standard: "ask",
    reason: "This lets every user write here.",
  },
  "change-owner": {
    legacy: ["chown"],
    effect: "writes",
    standard: "ask",
    reason: "This changes who owns files.",
  },
  "system-permissions": {
    effect: "writes",
    standard: "deny",
    reason: "This changes permissions or owners of system files or of a whole home.",
  },
  // Packages
  "package-remove": {
    key: "package management",
    legacy: ["apt_remove", "pip_uninstall"],
    effect: "deletes",
    standard: "ask",
    reason: "This removes installed packages.",
  },
  "package-source": {
    effect: "executes",
    standard: "ask",
    reason: "This installs from somewhere else than the usual registry, or without its checks.",
  },
  // Places
  "write-system": {
    key: "write to the system",
    effect: "writes",
    standard: "deny",
    reason: "This writes to a system folder.",
  },
  "write-new": {
    key: "write outside the workspace",
    effect: "writes",
    standard: "allow",
    strict: "ask",
    reason: "This makes a file outside the workspace, where none lies.",
  },
  "write-outside": {
    key: "write outside the workspace",
    effect: "writes",
    standard: "ask",
    reason: "This writes outside the workspace.",
  },
});
