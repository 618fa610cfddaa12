import type { GetDomainReportsData } from "@mailproof/client";
import { formatCount } from "../../format.ts";

/** The faults of reports. For reports that came by mail, this is the only response. */
export const ReportFaults = ({
  reports: { notes, unreadable },
}: {
  readonly reports: Pick<GetDomainReportsData, "notes" | "unreadable">;
}) =>
  notes.length + unreadable.length > 0 && (
    <section class="panel wide" aria-labelledby="report-faults">
      <h2 id="report-faults">Faults in reports</h2>
      <ul>
        {unreadable.map(({ day, mails, from, field, message }) => (
          <li key={day}>
            {day}: {formatCount(mails, "mail")} to your address for reports could not be read and
            are not counted. The last one{from !== undefined && `, from ${from}`}: {field} {message}
            .
          </li>
        ))}
        {notes.map(({ day, reporter, report_id: id, field, message }) => (
          <li key={`${id} ${field} ${message}`}>
            {day}, {reporter}: {field} {message}. The report is still counted.
          </li>
        ))}
      </ul>
    </section>
  );
