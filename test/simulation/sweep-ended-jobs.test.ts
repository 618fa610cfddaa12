import { describeSweep } from "./describe-sweep.ts";
import { CHILDREN, DELETIONS, ERASURES } from "./sweep.ts";

describeSweep(CHILDREN);
describeSweep(DELETIONS);
describeSweep(ERASURES);
