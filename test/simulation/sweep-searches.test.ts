import { describeSweep } from "./describe-sweep.ts";
import { MORE_SEARCHES, SEARCHES } from "./sweep.ts";

describeSweep(SEARCHES);
describeSweep(MORE_SEARCHES);
