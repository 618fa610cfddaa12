import { toHref } from "../../base.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { type Check, loadReport } from "../domains/check.ts";
import { RecordBox } from "../domains/record-box.tsx";

type Props = {
  readonly domain: string;
  readonly days: string;
  /** Absent when this service receives no mail for this key. */
  readonly address?: string | undefined;
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
export const NoReports = ({ domain, days, address }: Props) => {
  const load = useLoad(
    async (signal) => (await loadReport(domain, signal))?.check ?? null,
    [domain],
  );
  return (
    <section class="panel main" aria-labelledby="no-reports">
      <h2 id="no-reports">No reports in the last {days} days</h2>
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
