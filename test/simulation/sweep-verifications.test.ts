import { describeSweep } from "./describe-sweep.ts";
import { VERIFICATIONS } from "./sweep.ts";

describeSweep(VERIFICATIONS);
