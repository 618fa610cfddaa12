import { describeSweep } from "./describe-sweep.ts";
import { JOBS } from "./sweep.ts";

describeSweep(JOBS);
