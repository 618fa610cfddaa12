import { MORE_SEARCHES, SEARCHES } from "./sweep.ts";
import { describeSweep } from "./sweeping.ts";

describeSweep(SEARCHES);
describeSweep(MORE_SEARCHES, { inPairs: false });
