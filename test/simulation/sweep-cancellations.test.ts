import { describeSweep } from "./describe-sweep.ts";
import { CANCELLATIONS } from "./sweep.ts";

describeSweep(CANCELLATIONS);
