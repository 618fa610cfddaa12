import { describeSweep } from "./describe-sweep.ts";
import { CANCELLATIONS, JOBS } from "./sweep.ts";

describeSweep(JOBS);
describeSweep(CANCELLATIONS);
