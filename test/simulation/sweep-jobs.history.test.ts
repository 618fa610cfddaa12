import { describeSweep } from "./describe-sweep.ts";
import { CANCELLATIONS, CHILDREN, CONTINUATIONS, DELETIONS, ERASURES, JOBS } from "./sweep.ts";

for (const flows of [JOBS, CANCELLATIONS, CHILDREN, CONTINUATIONS, DELETIONS, ERASURES])
  describeSweep(flows);
