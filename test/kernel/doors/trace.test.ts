import { describeDoor } from "./common.js";

describeDoor("trace");
