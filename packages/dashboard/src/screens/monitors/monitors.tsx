import type { CheckSummary } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import { toHref } from "../../base.ts";
import { formatCount, formatTime } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { getClient, may } from "../../session.ts";
import { ChangeList } from "../domains/change-list.tsx";
import { loadReport } from "../domains/check.ts";
import { WatchForm } from "./watch-form.tsx";
import "../domains/domains.css";

const HISTORY_MAX = 100;
const POLL_MS = 2_000;

const loadMonitors = async (signal: AbortSignal) => {
  const client = getClient();
  const [{ monitors }, { checks }] = await Promise.all([
    client.listMonitors({ signal }),
    client.listChecks({ limit: HISTORY_MAX }, { signal }),
  ]);
  return { monitors, checks };
};

type Data = Awaited<ReturnType<typeof loadMonitors>>;
type Monitor = Data["monitors"][number];

const LIGHTS = {
  good: "Good",
  warn: "Could be better",
  bad: "Bad",
  grey: "Not known",
} as const;

/** Green for A and B, red for F. Grey when the grade is unknown, or could not be found out. */
const getLight = ({ last_check: last, last_problem: problem }: Monitor): keyof typeof LIGHTS => {
  if (!last || problem !== null) return "grey";
  if (last.grade === "F") return "bad";
  return last.grade === "A" || last.grade === "B" ? "good" : "warn";
};

const PROBLEMS = {
  insufficient_credits:
    "The account had too few credits for the last run. It is retried within the hour.",
  no_verdict:
    "The name servers did not answer during the last run, which was free. It is retried within the hour.",
  failed: "The last run failed on our side and was free. It is retried within the hour.",
} as const;

export const Monitors = () => {
  const load = useLoad(loadMonitors);
  const isFirstRun = load.data?.monitors.some(
    ({ last_check: last, last_problem: problem }) => !last && problem === null,
  );
  usePolling(load, isFirstRun ? POLL_MS : null);
  return (
    <Screen
      title="Monitors"
      lead="Domains that are checked regularly. A change for the worse is also sent as a webhook event."
    >
      <div class="panels">
        <section class="panel wide" aria-labelledby="monitors">
          <h2 id="monitors">Watched domains</h2>
          <Loaded load={load} what="the monitors" as="grades">
            {(data) =>
              data.monitors.length === 0 ? (
                <Empty shape="grades">No domains are watched yet.</Empty>
              ) : (
                <ul class="monitor-list">
                  {data.monitors.map((monitor) => (
                    <Row
                      key={monitor.monitor_id}
                      monitor={monitor}
                      checks={data.checks}
                      onChange={load.reload}
                    />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </section>
        {may("deliverability:write") && (
          <section class="panel" aria-labelledby="add-monitor">
            <h2 id="add-monitor">Watch a domain</h2>
            <WatchForm onAdded={load.reload} />
          </section>
        )}
      </div>
    </Screen>
  );
};

type RowProps = {
  readonly monitor: Monitor;
  readonly checks: readonly CheckSummary[];
  readonly onChange: () => void;
};

const toInterval = (hours: number): string =>
  hours === 24 ? "Every day" : `Every ${formatCount(hours / 24, "day")}`;

const Row = ({ monitor, checks, onChange }: RowProps) => {
  const {
    domain,
    domain_unicode: name,
    sending_ip: ip,
    last_check: last,
    last_problem: problem,
  } = monitor;
  const light = getLight(monitor);
  const scores = checks
    .filter((check) => check.domain === domain && check.sending_ip === ip)
    .map(({ score }) => score)
    .toReversed();
  return (
    <li>
      <span class={`light ${light}`} role="img" aria-label={LIGHTS[light]} />
      <div class="monitor-name">
        <a href={toHref(`domains/${domain}`)}>{name}</a>
        <small>
          {last
            ? `Grade ${last.grade}, ${last.score} of 100, ${formatTime(last.checked_at)}. `
            : problem === null && "The first check is under way. "}
          {toInterval(monitor.interval_hours)}, next {formatTime(monitor.next_check_at)}
        </small>
        {problem !== null && <p class="notice">{PROBLEMS[problem]}</p>}
      </div>
      <Sparkline scores={scores} />
      {may("deliverability:write") && <RemoveButton monitor={monitor} onRemoved={onChange} />}
      {last && scores.length > 1 && <LatestChange key={last.check_id} domain={domain} />}
    </li>
  );
};

const LatestChange = ({ domain }: { readonly domain: string }) => {
  const isOpen = useSignal(false);
  return (
    <details class="latest-change" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>What changed</summary>
      {isOpen.value && <ChangesOf domain={domain} />}
    </details>
  );
};

const ChangesOf = ({ domain }: { readonly domain: string }) => (
  <Loaded
    load={useLoad((signal) => loadReport(domain, signal), [domain])}
    what="the last two checks"
  >
    {(report) => report?.before && <ChangeList before={report.before} after={report.check} />}
  </Loaded>
);

type RemoveProps = { readonly monitor: Monitor; readonly onRemoved: () => void };

const RemoveButton = ({ monitor, onRemoved }: RemoveProps) => {
  const isOpen = useSignal(false);
  const close = () => (isOpen.value = false);
  const remove = useAction(async () => {
    await getClient().deleteMonitor({ id: monitor.monitor_id });
    close();
    onRemoved();
  });
  return (
    <>
      <button type="button" class="quiet" onClick={() => (isOpen.value = true)}>
        Remove<span class="unseen"> the monitor of {monitor.domain_unicode}</span>
      </button>
      <Dialog
        title={`Stop watching ${monitor.domain_unicode}?`}
        isOpen={isOpen.value}
        onClose={close}
      >
        <p>The domain is no longer checked. Earlier checks stay.</p>
        <Answers action={remove} yes="Stop watching" onClose={close} />
      </Dialog>
    </>
  );
};

/** Draws the scores of a domain from 0 to 100, with the oldest first. A single score is shown as text only. */
const Sparkline = ({ scores }: { readonly scores: readonly number[] }) => {
  const last = scores.at(-1);
  if (last === undefined || scores.length < 2) return null;
  const step = 100 / (scores.length - 1);
  const points = scores.map((score, at) => `${at * step},${30 - score * 0.3}`).join(" ");
  return (
    <svg
      class="sparkline"
      viewBox="-3 -3 106 36"
      role="img"
      aria-label={`${scores.length} checks, oldest first: ${scores.join(", ")}`}
    >
      <polyline points={points} />
      <circle cx={(scores.length - 1) * step} cy={30 - last * 0.3} r="3" />
    </svg>
  );
};
