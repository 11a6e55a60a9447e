/** Test files that take longest, the longest first: parts of their paths. */
export const LONG = `
  attacks/attacks transparency/programs transparency/signals test/docs. tools/crash attacks/flips mcp/gateway console/views
  transparency/processes transparency/start-state faults/faults store/postgres. transparency/descriptors ship/package
  backends/podman backends/ssh. learn/loop mcp/server. doors/change approval/processes hooks/fail-closed backends/oci.
  transparency/stdio transparency/terminal backends/crun terminal/exec fence/landlock audit/verify tools/toolbox.
  session/failure console/approvals fence/acts store/sqlite python/rpc lua/hostile hooks/claude-code runtime-check/runtime-check
  session/unprivileged yaml/shipped session/reload
`
  .trim()
  .split(/\s+/);
