import { iterateAccounts } from "../accounts/account-items.ts";
import { auditJobs } from "../lists/audit-jobs.ts";
import { createAudit } from "../money/audit.ts";

/** Checks the invariants of money in every account and reports each broken one. */
export const audit = createAudit(iterateAccounts, [auditJobs]);
