import { CHECKS, MORE_CHECKS } from "./sweep.ts";
import { describeSweep } from "./sweeping.ts";

describeSweep(CHECKS);
describeSweep(MORE_CHECKS, { inPairs: false });
