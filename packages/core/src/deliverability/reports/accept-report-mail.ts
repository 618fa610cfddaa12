import { judgeAuthor, limitDns } from "@mailproof/mail/message/authenticate";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import { type Account, getAccountStatus } from "../../accounts/account-items.ts";
import { findAccount } from "../../accounts/accounts.ts";
import { Failure, type FailureCode } from "../../lib/failure.ts";
import type { World } from "../../ports/world.ts";
import type { CheckWorld } from "../dns-lookups.ts";
import type { AcceptOutcome, RecipientStatus } from "../mail-recipient.ts";
import { ReportFault } from "./report-fault.ts";
import { findReportsAccount } from "./reports-address.ts";
import { storeReport } from "./store-report.ts";
import { REPORT_BYTES_MAX } from "./unpack-report.ts";
import { countUnreadable, type UnreadableReports } from "./unreadable-reports.ts";

/** Each mail counts at least 100 KB, with or without a report. */
const MAIL_BYTES_LEAST = 100_000;

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
 * Stores only the reports in a mail: it reads the mail while the sender waits, so it never stores the mail itself. A repeated
 * report is not stored twice.
 */
export const acceptReportMail = async (
  world: CheckWorld,
  token: string,
  mail: ReceivedMessage,
): Promise<AcceptOutcome> => {
  const account = await findAddressee(world.table, token);
  if (!account) return "unknown";
  const { unpacked, run } = world.reading;
  const { ofShare, ofAll } = unpacked.left(account.account);
  const bytesMax = Math.floor(Math.min(REPORT_BYTES_MAX, ofShare, ofAll));
  const cost = bytesMax < MAIL_BYTES_LEAST ? undefined : unpacked.take(account.account, bytesMax);
  if (!cost) return "busy";
  try {
    const { reports, unpackedBytes, fault, author } = await run(
      account.account,
      "readMailedReports",
      mail.raw,
      bytesMax,
    );
    cost.more(Math.max(unpackedBytes, MAIL_BYTES_LEAST) - bytesMax);
    if (fault?.isTooLarge && bytesMax < REPORT_BYTES_MAX) return "busy";
    if (fault) await noteUnreadable(world, account, { from: author.from, ...fault });
    else if (reports.length === 0) return refuse(world, account);
    if (fault?.isTooLarge || reports.length === 0) return "stored";
    // Judges only a mail with reports, within the limits of one mail test.
    const result = await judgeAuthor(limitDns(world.names.dns, world), mail, author);
    if (result === "temperror") return "busy";
    const isAuthenticated = result === "pass";
    for (const report of reports)
      await storeReport(
        world,
        { ...account, mode: "live" },
        { report, way: "mail", isAuthenticated },
      );
    return "stored";
  } catch (error) {
    if (error instanceof ReportFault) {
      await noteUnreadable(world, account, { from: null, path: error.path, what: error.what });
      return "stored";
    }
    if (error instanceof Failure && BUSY.has(error.code)) return "busy";
    throw error;
  }
};

const BUSY: ReadonlySet<FailureCode> = new Set(["LIMIT_REACHED", "RATE_LIMITED"]);

const refuse = ({ log }: Pick<World, "log">, { account }: Account): AcceptOutcome => {
  log("report_mail_refused", { account });
  return "unreadable";
};

/**
 * Accepts an unreadable report: otherwise its reporter would get a bounce every day, and the domain's owner would not learn of
 * it. It stores only the mail's From domain and the fault.
 */
const noteUnreadable = async (
  { table, now, log }: World,
  account: Account,
  { from, path, what }: Omit<UnreadableReports, "day" | "mails">,
): Promise<void> => {
  log("report_mail_unreadable", { account: account.account, path, what });
  await table.write(countUnreadable({ ...account, mode: "live" }, now(), { from, path, what }));
};
