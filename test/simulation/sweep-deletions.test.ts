import { describeSweep } from "./describe-sweep.ts";
import { DELETIONS, ERASURES } from "./sweep.ts";

describeSweep(DELETIONS);
describeSweep(ERASURES);
