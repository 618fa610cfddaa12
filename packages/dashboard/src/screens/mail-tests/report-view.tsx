import { formatTime } from "../../format.ts";
import { Counting } from "../domains/counting.tsx";
import { Dial } from "../domains/dial.tsx";
import { FixList } from "../domains/fixes.tsx";
import { Cards } from "./cards.tsx";
import { CAP_REASONS, type MessageReport, PART_TITLES } from "./mail-test.ts";
import { Requirements } from "./requirements.tsx";

type Props = { readonly report: MessageReport };

export const ReportView = ({ report }: Props) => (
  <>
    <div class="report-head">
      <Dial score={report.score} grade={report.grade} />
      <div>
        <Summary report={report} />
        <div class="actions">
          <button type="button" onClick={() => print()}>
            Print
          </button>
        </div>
      </div>
    </div>
    <div class="panels mail-report">
      <section class="panel main wide" aria-labelledby="fixes">
        <h2 id="fixes">What to fix first</h2>
        <FixList
          parts={report.findings.map(({ advice, ...finding }) => ({ ...finding, text: advice }))}
        />
      </section>
      <Requirements requirements={report.requirements} />
      <Cards report={report} />
      <Counting scored={report} titles={PART_TITLES} capReasons={CAP_REASONS} />
    </div>
  </>
);

const Summary = ({ report: { header, envelope, missing_parts: missing } }: Props) => (
  <>
    <p class="mail-subject">
      <b>{header.subject ?? "No subject"}</b>
      <br />
      {header.from ? `From ${header.from.name} <${header.from.address}>` : "No single author"}
      {header.sent_at !== undefined && `, dated ${formatTime(header.sent_at)}`}
    </p>
    {missing.length > 0 && (
      <p>
        Not measured, because DNS did not answer:{" "}
        {missing.map((part) => PART_TITLES[part] ?? part).join(", ")}. That counts neither for nor
        against the mail.
      </p>
    )}
    <p class="soft">
      Envelope: from {envelope.mail_from === "" ? "<>" : envelope.mail_from}, received{" "}
      {formatTime(envelope.received_at)} from {envelope.ip}.
    </p>
  </>
);
