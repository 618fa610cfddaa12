import { iterateAccounts } from "../accounts/account-items.ts";
import { auditJobs } from "../lists/audit-jobs.ts";
import { createAudit } from "../money/audit.ts";

export const audit = createAudit(iterateAccounts, [auditJobs]);
