import { describeSweep } from "./describe-sweep.ts";
import { CHILDREN } from "./sweep.ts";

describeSweep(CHILDREN);
