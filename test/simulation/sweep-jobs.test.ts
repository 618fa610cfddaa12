import { JOBS } from "./sweep.ts";
import { describeSweep } from "./sweeping.ts";

describeSweep(JOBS);
