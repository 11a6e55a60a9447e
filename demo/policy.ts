import {
  type CallEvent,
  definePolicy,
  deny,
  emulate,
  fault,
  redirect,
  utsname,
  virtualFile,
} from "hermes-runtime";

// The demo's policy. The program works in DEMO_FOLDER and does not know the policy.
const folder = process.env.DEMO_FOLDER ?? "/nonexistent";

function onOpen(e: CallEvent) {
  if (e.path?.startsWith(`${folder}/secrets/`))
    return { ...deny("Secrets are not for this program."), rule: "secrets" };
  if (e.path === "/etc/passwd")
    return { ...virtualFile("nobody:x:65534:65534::/:/bin/false\n"), rule: "passwd" };
  if (e.path?.startsWith(`${folder}/outside/`))
    return { ...redirect(e.path.replace("/outside/", "/quarantine/")), rule: "quarantine" };
}

export default definePolicy({
  name: "demo",
  on: {
    open: onOpen,
    openat: onOpen,
    execve(e) {
      if (e.path && /\/(ba|da|z)?sh$/.test(e.path))
        return { ...deny("No shells.", "EPERM"), rule: "no-shell" };
    },
    connect(e) {
      if (e.address?.family === "ipv4" && e.address.host.startsWith("127.9."))
        return { ...deny("Restricted subnet.", "ENETUNREACH"), rule: "subnet" };
    },
    sendto(e) {
      if (e.address) return { ...fault({ errno: "EHOSTUNREACH" }), rule: "flaky-network" };
    },
    uname: () => ({ ...emulate(0, utsname({ nodename: "build-17" })), rule: "host-name" }),
  },
});
