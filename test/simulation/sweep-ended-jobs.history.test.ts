import { describeSweep } from "./describe-sweep.ts";
import { CHILDREN, CONTINUATIONS, DELETIONS, ERASURES } from "./sweep.ts";

describeSweep(CHILDREN);
describeSweep(CONTINUATIONS);
describeSweep(DELETIONS);
describeSweep(ERASURES);
