import type { GetDomainReportsData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatDate } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { type Check, loadReport } from "../domains/check.ts";
import { RecordBox } from "../domains/record-box.tsx";
import { toReports } from "./path.ts";

type Props = {
  readonly reports: GetDomainReportsData;
  readonly days: string;
};

/** The address to which receivers may send reports themselves, so that nobody has to upload files. */
export const ReportsAddress = ({ address }: { readonly address: string }) => (
  <p class="reports-address">
    Reports arrive automatically when <code>rua</code> of the DMARC and the TLS-RPT record has{" "}
    <code>mailto:{address}</code>
    <CopyButton text={`mailto:${address}`} label="Copy address" />
  </p>
);

/** Shows which records request reports, by the latest check of the domain. Reading the check is free. */
export const NoReports = ({ reports, days }: Props) => {
  const { domain, to, stored, reports_address: address } = reports;
  const load = useLoad(
    async (signal) => (await loadReport(domain, signal))?.check ?? null,
    [domain],
  );
  const isUntilToday = to === new Date().toISOString().slice(0, 10);
  return (
    <section class="panel main" aria-labelledby="no-reports">
      <h2 id="no-reports">
        No reports in {isUntilToday ? `the last ${days} days` : `the ${days} days shown`}
      </h2>
      {stored && (
        <p>
          The stored reports about this domain are of {formatDate(stored.from)} to{" "}
          {formatDate(stored.to)}.{" "}
          <a class="button" href={toHref(toReports({ domain, days, to: stored.to }))}>
            Show the newest
          </a>
        </p>
      )}
      <p>
        Receivers such as Google and Microsoft report once a day to the mailbox that the DMARC
        record names (<code>rua</code>). Upload the files that arrive there below, unchanged.
      </p>
      {address !== undefined && <ReportsAddress address={address} />}
      <Loaded load={load} what="the DMARC record">
        {(check) => <Request domain={domain} check={check} />}
      </Loaded>
    </section>
  );
};

const Request = ({ domain, check }: { readonly domain: string; readonly check: Check | null }) => {
  const record = check?.authentication.dmarc.record;
  const proposal = check?.recommendations.find((one) => one.record?.name === `_dmarc.${domain}`);
  if (record?.includes("rua="))
    return (
      <>
        <p>The published record already requests reports. The first ones arrive within two days.</p>
        <p>
          <code>{record}</code>
        </p>
      </>
    );
  if (proposal)
    return (
      <>
        <p>No reports are requested yet. This record requests them:</p>
        <RecordBox {...proposal} />
      </>
    );
  return (
    <p>
      <a href={toHref(`domains/${encodeURIComponent(domain)}`)}>Check the domain</a> to see whether
      its record requests reports, and which record to publish if not.
    </p>
  );
};
