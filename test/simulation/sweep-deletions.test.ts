import { describeSweep } from "./describe-sweep.ts";
import { DELETIONS, ERASURES } from "./sweep.ts";

// These flows have many calls, so pairs of faults are left to npm run simulate -- --pairs 1.
describeSweep(DELETIONS, { inPairs: false });
describeSweep(ERASURES, { inPairs: false });
