import { VERIFICATIONS } from "./sweep.ts";
import { sweep } from "./sweeping.ts";

sweep(VERIFICATIONS);
