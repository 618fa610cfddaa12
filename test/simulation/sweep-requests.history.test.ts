import { describeSweep } from "./describe-sweep.ts";
import {
  CHECKS,
  LIMITED,
  MAIL_TESTS,
  MORE_CHECKS,
  MORE_SEARCHES,
  SEARCHES,
  VERIFICATIONS,
} from "./sweep.ts";

for (const flows of [
  VERIFICATIONS,
  CHECKS,
  MORE_CHECKS,
  SEARCHES,
  MORE_SEARCHES,
  MAIL_TESTS,
  LIMITED,
])
  describeSweep(flows);
