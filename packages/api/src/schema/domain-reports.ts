import {
  ADVICE_CODES,
  type Advice,
  advise,
  findSenderService,
} from "@mailproof/core/deliverability/reports/advise";
import type { DatedSource } from "@mailproof/core/deliverability/reports/merge-reports";
import type { ProviderSums } from "@mailproof/core/deliverability/reports/providers";
import {
  DISPOSITIONS,
  OVERRIDE_REASONS,
  type SourceSums,
} from "@mailproof/core/deliverability/reports/report";
import type { ReportNote } from "@mailproof/core/deliverability/reports/report-notes";
import type { Sender } from "@mailproof/core/deliverability/reports/senders";
import type { UnreadableReports } from "@mailproof/core/deliverability/reports/unreadable-reports";
import { POLICIES } from "@mailproof/mail/dmarc/record";
import * as v from "valibot";
import { describe } from "./common.ts";
import * as field from "./fields.ts";
import { omitNull } from "./omit-null.ts";

export const ReportSums = {
  messages: field.count("Number of messages."),
  aligned: field.count("Messages that SPF or DKIM aligns: they pass DMARC."),
  spf_aligned: field.count("Messages that SPF aligns."),
  dkim_aligned: field.count("Messages that DKIM aligns."),
  forwarded: field.count(
    "Messages that are not aligned and that the receiver reports as forwarded, or as from a mailing list.",
  ),
  unauthenticated: field.count("Messages that only unauthenticated reports have."),
  dispositions: field.objects("What receivers did with the messages.", {
    disposition: describe(
      v.picklist(DISPOSITIONS),
      "none: delivered as usual. pass: passed DMARC. quarantine: treated as suspicious. reject: refused. unknown: the report does not say.",
    ),
    messages: field.count("Number of messages."),
  }),
};

const NoteFields = {
  field: field.text("Where in the file, such as `feedback.report_metadata.org_name`."),
  message: field.text("What is wrong there."),
};

export const ReportNotes = field.objects(
  "Faults in the file that affect no sum, up to 20: the report still counts.",
  NoteFields,
);

export const NotedReports = field.objects(
  "Faults in reports that still count, up to 50, the newest first.",
  {
    day: field.text("The day (UTC) of the report."),
    reporter: field.text("The organisation that made it."),
    report_id: field.text("Its id."),
    ...NoteFields,
  },
);

export const UnreadableMails = field.objects(
  "Mails with a report that could not be read, about any domain of the account, by day, the newest first, with the fault of the day's last. They are not counted.",
  {
    day: field.text("The day (UTC) on which they came."),
    mails: field.count("Number of mails with a report that could not be read."),
    from: field.maybeText("The domain in the From of the last. Left out where it is not known."),
    ...NoteFields,
  },
);

export const toNotes = (notes: readonly ReportNote[] = []) =>
  notes.map(({ path, what }) => ({ field: path, message: what }));

export const toUnreadableMails = (days: readonly UnreadableReports[]) =>
  days.map(({ day, mails, from, path, what }) => ({
    day,
    mails,
    ...omitNull({ from }),
    field: path,
    message: what,
  }));

export const toReportSums = (sums: SourceSums) => ({
  messages: sums.messages,
  aligned: sums.aligned,
  spf_aligned: sums.spfAligned,
  dkim_aligned: sums.dkimAligned,
  forwarded: sums.forwarded,
  unauthenticated: sums.unauthenticated ?? 0,
  dispositions: DISPOSITIONS.flatMap((disposition) => {
    const messages = sums.dispositions[disposition];
    return messages === undefined ? [] : [{ disposition, messages }];
  }),
});

export const AlignedShare = field.maybeShare(
  "Share of messages that are aligned, 0–1. Left out without messages.",
);

export const toAlignedShare = ({ messages, aligned }: Pick<SourceSums, "messages" | "aligned">) =>
  messages === 0 ? {} : { aligned_share: Math.round((aligned / messages) * 10_000) / 10_000 };

export const SendingProvider = field.maybeText(
  "The service that sends, such as `google` or `amazon_ses`. Left out for other senders.",
);

export const PublishedPolicy = (text: string) => describe(v.optional(v.picklist(POLICIES)), text);

const SourceAdvice = field.object("What to do about this mail.", {
  code: describe(v.picklist(ADVICE_CODES), "What the mail needs, as a code."),
  text: field.text("The same in a sentence."),
  spf_term: field.maybeText("A term for the SPF record. Left out when none helps."),
});

export const ReportSource = v.object({
  ip: field.maybeText(
    "The IPv4 or IPv6 address. Left out for the sum of the smallest sources of reports with thousands of them.",
  ),
  host_name: field.maybeText(
    "The name of the address, if the name resolves back to it. Left out when it has none or DNS did not answer.",
  ),
  provider: SendingProvider,
  ...ReportSums,
  aligned_share: AlignedShare,
  reasons: field.objects("Why receivers did not apply the policy.", {
    reason: describe(v.picklist(OVERRIDE_REASONS), "The reason, as RFC 7489 and RFC 9990 name it."),
    messages: field.count("Number of messages."),
  }),
  authenticated_as: describe(
    v.array(v.string()),
    "Domains that passed SPF or DKIM, aligned or not. At most ten.",
  ),
  first_day: field.text("The first day (UTC) on which reports have this source."),
  last_day: field.text("The last day (UTC) on which reports have this source."),
  advice: SourceAdvice,
});

export const ReportSender = v.object({
  name: field.maybeText(
    "The service, the domain of its hosts, or the network of its addresses. Left out for the sum of the smallest sources.",
  ),
  provider: SendingProvider,
  sources: field.count("Number of its addresses."),
  ...ReportSums,
  aligned_share: AlignedShare,
  advice: SourceAdvice,
});

export const toReportSource = (source: DatedSource, domain: string) => {
  return {
    ...omitNull({
      ip: source.ip,
      host_name: source.host ?? null,
      provider: findSenderService(source)?.name ?? null,
    }),
    ...toReportSums(source),
    ...toAlignedShare(source),
    reasons: OVERRIDE_REASONS.flatMap((reason) => {
      const messages = source.reasons[reason];
      return messages === undefined ? [] : [{ reason, messages }];
    }),
    authenticated_as: Object.keys(source.authenticated),
    first_day: source.firstDay,
    last_day: source.lastDay,
    advice: toAdvice(advise(source, domain)),
  };
};

const toAdvice = ({ code, text, spfTerm }: Advice) => ({
  code,
  text,
  ...omitNull({ spf_term: spfTerm }),
});

export const toReportSender = ({ name, provider, sources, total, advice }: Sender) => ({
  ...omitNull({ name, provider }),
  sources,
  ...toReportSums(total),
  ...toAlignedShare(total),
  advice: toAdvice(advice),
});

export const toProviderSums = ({ provider, sources, total }: ProviderSums) => ({
  ...omitNull({ provider }),
  sources,
  ...toReportSums(total),
  ...toAlignedShare(total),
});
