import { describeDoor } from "./common.js";

describeDoor("notify");
