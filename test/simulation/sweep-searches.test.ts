import { MORE_SEARCHES, SEARCHES } from "./sweep.ts";
import { sweep } from "./sweeping.ts";

sweep(SEARCHES);
sweep(MORE_SEARCHES, { inPairs: false });
