import { formatCount, formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import type { Params } from "../../router.ts";
import { ChangeList } from "./change-list.tsx";
import { CAP_REASONS, type Check, loadReport, PART_TITLES, type Report } from "./check.ts";
import { CheckButton } from "./check-button.tsx";
import { Counting } from "./counting.tsx";
import { Dial } from "./dial.tsx";
import { Fixes } from "./fixes.tsx";
import { Sections } from "./sections.tsx";
import { SpfTree } from "./spf-tree.tsx";
import { DomainTabs } from "./tabs.tsx";
import "./domains.css";
import { useSignal } from "@preact/signals";
import { toHref } from "../../base.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { getClient, may } from "../../session.ts";
import { WatchForm } from "../monitors/watch-form.tsx";

export const DomainReport = ({ params }: { readonly params: Params }) => {
  const domain = params["domain"] ?? "";
  const load = useLoad((signal) => loadReport(domain, signal), [domain]);
  return (
    <Screen
      title={load.data?.check.domain_unicode ?? domain}
      lead="How the domain is set up to send mail."
    >
      <DomainTabs domain={domain} />
      <Loaded load={load} what="the latest check" as="grades">
        {(report) =>
          report === null ? (
            <>
              <p>This domain has not been checked yet.</p>
              <CheckButton domain={domain} label="Check now" onChecked={load.reload} />
            </>
          ) : (
            <ReportView report={report} onChecked={load.reload} />
          )
        }
      </Loaded>
    </Screen>
  );
};

type ViewProps = { readonly report: Report; readonly onChecked: () => void };

const ReportView = ({ report: { check, before }, onChecked }: ViewProps) => (
  <>
    <div class="report-head">
      <Dial score={check.score} grade={check.grade} />
      <div>
        <Summary check={check} />
        <div class="actions">
          <CheckButton
            domain={check.domain}
            sendingIp={check.sending_ip}
            label="Check again"
            onChecked={onChecked}
          />
          <WatchButton domain={check.domain} sendingIp={check.sending_ip} />
          <button type="button" onClick={() => print()}>
            Print
          </button>
        </div>
      </div>
    </div>
    <div class="panels report" aria-live="polite">
      {before && (
        <section class="panel wide changes" aria-labelledby="changes">
          <h2 id="changes">What changed</h2>
          <ChangeList before={before} after={check} />
        </section>
      )}
      <Fixes check={check} />
      <SpfTree check={check} />
      <Sections check={check} />
      <Counting scored={check} titles={PART_TITLES} capReasons={CAP_REASONS} />
    </div>
  </>
);

const Summary = ({ check }: { readonly check: Check }) => (
  <p>
    Checked {formatTime(check.checked_at)}
    {check.sending_ip !== null && <>, sending from {check.sending_ip}</>}.
    {check.confidence !== "high" && (
      <>
        {" "}
        Confidence {check.confidence}: {formatCount(check.missing_parts.length, "part")} had no
        answer, which counts neither for nor against the domain.
      </>
    )}
  </p>
);

type Props = { readonly domain: string; readonly sendingIp: string | null };

const WatchButton = ({ domain, sendingIp }: Props) => {
  const isOpen = useSignal(false);
  const monitors = useLoad(async (signal) => (await getClient().listMonitors({ signal })).monitors);
  const isWatched = monitors.data?.some(
    (one) => one.domain === domain && one.sending_ip === sendingIp,
  );
  if (isWatched)
    return (
      <a class="button" href={toHref("monitors")}>
        Watched: see monitors
      </a>
    );
  if (!may("deliverability:write")) return null;
  const close = () => (isOpen.value = false);
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        Watch this domain
      </button>
      <Dialog title={`Watch ${domain}`} isOpen={isOpen.value} onClose={close}>
        <WatchForm
          domain={domain}
          sendingIp={sendingIp}
          onAdded={() => {
            close();
            monitors.reload();
          }}
        />
      </Dialog>
    </>
  );
};
