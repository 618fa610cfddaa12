import { describeSweep } from "./describe-sweep.ts";
import { CHECKS, MORE_CHECKS } from "./sweep.ts";

describeSweep(CHECKS);
describeSweep(MORE_CHECKS);
