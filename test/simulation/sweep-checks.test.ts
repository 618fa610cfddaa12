import { CHECKS } from "./sweep.ts";
import { sweep } from "./sweeping.ts";

sweep(CHECKS);
