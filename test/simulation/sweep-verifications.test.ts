import { VERIFICATIONS } from "./sweep.ts";
import { describeSweep } from "./sweeping.ts";

describeSweep(VERIFICATIONS);
