import { describeSweep } from "./describe-sweep.ts";
import { MAIL_TESTS } from "./sweep.ts";

describeSweep(MAIL_TESTS);
