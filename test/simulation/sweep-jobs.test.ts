import { JOBS } from "./sweep.ts";
import { sweep } from "./sweeping.ts";

sweep(JOBS);
