import { CHECKS, MORE_CHECKS } from "./sweep.ts";
import { sweep } from "./sweeping.ts";

sweep(CHECKS);
sweep(MORE_CHECKS, { inPairs: false });
