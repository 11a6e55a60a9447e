import { type CallEvent, definePolicy } from "hermes-runtime";

/** Looks at what every call reaches and lets it happen: so it is made in the program's place where that can be. */
function look(event: CallEvent): undefined {
  void event.paths;
  void event.addresses;
}

export default definePolicy({
  name: "every-path",
  actions: ["deny"],
  on: { "%file": look, "%network": look },
});
