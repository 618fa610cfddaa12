import { type Account, getAccountStatus } from "../../accounts/account-items.ts";
import { findAccount } from "../../accounts/accounts.ts";
import { Failure } from "../../lib/failure.ts";
import type { World } from "../../ports/world.ts";
import type { CheckWorld } from "../dns-lookups.ts";
import type { AcceptOutcome, RecipientStatus } from "../mail-recipient.ts";
import { judgeAuthor, limitDns } from "../message/authenticate.ts";
import type { ReceivedMessage } from "../message/received-message.ts";
import { findMailedReports } from "./find-mailed-reports.ts";
import { ReportFault } from "./report-fault.ts";
import { addUnpackedBytes } from "./report-items.ts";
import { findReportsAccount } from "./reports-address.ts";
import { storeReport } from "./store-report.ts";

/** A mail counts at least so much, with a report or without one. */
const MAIL_BYTES_LEAST = 100_000;

/** `token`: of the address. */
export const findReportRecipient = async (
  { table }: Pick<World, "table">,
  token: string,
): Promise<RecipientStatus> => ((await findAddressee(table, token)) ? "open" : "unknown");

const findAddressee = async (
  table: World["table"],
  token: string,
): Promise<Account | undefined> => {
  const id = await findReportsAccount(table, token);
  const account = id === undefined ? undefined : await findAccount(table, id);
  return account && getAccountStatus(account) === "active" ? account : undefined;
};

/**
 * Stores the reports in a mail, and nothing else of it: the mail is read while its sender waits, so it is never stored. A
 * mail that is sent again stores nothing twice.
 */
export const acceptReportMail = async (
  world: CheckWorld,
  token: string,
  mail: ReceivedMessage,
): Promise<AcceptOutcome> => {
  const account = await findAddressee(world.table, token);
  if (!account) return "unknown";
  if (!(await takeBytes(world, account, MAIL_BYTES_LEAST))) return "busy";
  try {
    const { reports, bytes } = findMailedReports(mail.raw);
    if (!(await takeBytes(world, account, Math.max(0, bytes - MAIL_BYTES_LEAST)))) return "busy";
    // Only of a mail with reports, and with the limits of one mail test.
    const result = await judgeAuthor(limitDns(world.names.dns, world), mail);
    if (result === "temperror") return "busy";
    return await storeAll(world, account, { reports, isAuthenticated: result === "pass" });
  } catch (error) {
    if (error instanceof Failure && error.code === "LIMIT_REACHED") return "busy";
    if (!(error instanceof ReportFault)) throw error;
    const { path, what } = error;
    world.log("report_mail_refused", { account: account.account, path, what });
    return "unreadable";
  }
};

/** A lost reply refuses nothing; the count is a little off then. */
const takeBytes = async (
  { table, now }: Pick<World, "table" | "now">,
  { account }: Account,
  bytes: number,
): Promise<boolean> => {
  const { outcome } = await table.write(addUnpackedBytes(account, now(), bytes));
  return outcome !== "refused";
};

/** A file that is no report is an error only where no other one is. */
const storeAll = async (
  world: CheckWorld,
  account: Account,
  {
    reports,
    isAuthenticated,
  }: { readonly reports: readonly Uint8Array[]; readonly isAuthenticated: boolean },
): Promise<AcceptOutcome> => {
  let stored = 0;
  let fault: ReportFault | undefined;
  for (const bytes of reports) {
    try {
      await storeReport(
        world,
        { ...account, mode: "live" },
        { bytes, way: "mail", isAuthenticated },
      );
      stored += 1;
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      fault ??= error;
    }
  }
  if (stored === 0 && fault) throw fault;
  return "stored";
};
