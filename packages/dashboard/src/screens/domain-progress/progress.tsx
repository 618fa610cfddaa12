import type { GetDomainProgressData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatDay, formatNumber, formatShare, formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import type { Params } from "../../router.ts";
import { getClient } from "../../session.ts";
import { RecordBox } from "../domains/record-box.tsx";
import { DomainTabs } from "../domains/tabs.tsx";
import "../domains/domains.css";
import "../domain-reports/reports.css";
import "./progress.css";
import { SourceTable } from "../domain-reports/sources.tsx";

type Progress = GetDomainProgressData;
type Step = Progress["steps"][number];
type Next = Progress["next"];

export const DomainProgress = ({ params }: { readonly params: Params }) => {
  const domain = params["domain"] ?? "";
  const load = useLoad((signal) => getClient().getDomainProgress({ domain }, { signal }), [domain]);
  return (
    <Screen
      title={`${domain}: progress`}
      lead="From published records to a policy that stops forged mail, without stopping your own."
    >
      <DomainTabs domain={domain} />
      <Loaded load={load} what="the progress">
        {(progress) => (
          <div class="panels">
            <NextPanel domain={domain} next={progress.next} steps={progress.steps} />
            <Way domain={domain} steps={progress.steps} />
            <Readiness dmarc={progress.dmarc} />
          </div>
        )}
      </Loaded>
    </Screen>
  );
};

const toEvidence = (domain: string, { step, test_id: test }: Step): string => {
  const start = `domains/${encodeURIComponent(domain)}`;
  if (step === "tested") return test === undefined ? `${start}/mail-tests` : `mail-tests/${test}`;
  return step === "reported" ? `${start}/reports` : start;
};

/** The step that the next action belongs to. Absent when the action has its own screen. */
const STEP_OF_NEXT: Readonly<Partial<Record<Next["code"], Step["step"]>>> = {
  check_domain: "published",
  publish_spf: "published",
  publish_dkim: "published",
  publish_dmarc: "published",
  request_reports: "published",
  send_test_mail: "tested",
  correct_mail: "tested",
  correct_source: "reported",
  collect_reports: "reported",
  tighten_policy: "enforced",
  protect_subdomains: "enforced",
};

const SCREEN_NAMES: Readonly<Record<Step["step"], string>> = {
  published: "Open the check",
  tested: "Open the mail tests",
  reported: "Open the reports",
  enforced: "Open the check",
};

type NextProps = {
  readonly domain: string;
  readonly next: Next;
  readonly steps: readonly Step[];
};

const NextPanel = ({ domain, next, steps }: NextProps) => {
  const step = steps.find((one) => one.step === STEP_OF_NEXT[next.code]);
  return (
    <section class="panel main wide" aria-labelledby="next-step">
      <h2 id="next-step">Next step</h2>
      <p>{next.text}</p>
      <RecordBox {...next} />
      <p class="next-link">
        {step ? (
          <a class="button" href={toHref(toEvidence(domain, step))}>
            {step.test_id === undefined || step.step !== "tested"
              ? SCREEN_NAMES[step.step]
              : "Open the mail test"}
          </a>
        ) : (
          <a class="button" href={toHref("monitors")}>
            Open the monitors
          </a>
        )}
      </p>
    </section>
  );
};

const TITLES: Readonly<Record<Step["step"], string>> = {
  published: "Published in DNS",
  tested: "Seen in a test mail",
  reported: "Seen in reports",
  enforced: "Strict policy",
};

/** An unobserved step is never red. */
const STATES: Readonly<
  Record<Step["status"], { readonly tone: string; readonly word: string; readonly mark: string }>
> = {
  done: { tone: "good", word: "done", mark: "✓" },
  failing: { tone: "bad", word: "to correct", mark: "!" },
  open: { tone: "grey", word: "open", mark: "" },
};

type WayProps = { readonly domain: string; readonly steps: readonly Step[] };

const Way = ({ domain, steps }: WayProps) => (
  <section class="panel wide" aria-labelledby="way">
    <h2 id="way">The way to a strict policy</h2>
    <ol class="way">
      {steps.map((one) => {
        const { tone, word, mark } = STATES[one.status];
        return (
          <li key={one.step} class={tone}>
            <span class="way-mark" aria-hidden="true">
              {mark}
            </span>
            <h3>
              <a href={toHref(toEvidence(domain, one))}>{TITLES[one.step]}</a>{" "}
              <b class={`state ${tone}`}>{word}</b>
            </h3>
            {one.missing.map((text) => (
              <p key={text}>{text}</p>
            ))}
            {one.observed_at !== undefined && (
              <p class="soft">Observed {formatTime(one.observed_at)}</p>
            )}
          </li>
        );
      })}
    </ol>
  </section>
);

type Dmarc = GetDomainProgressData["dmarc"];

/** Says in one word whether a stricter policy is safe. Without evidence the word is grey. */
const toVerdict = ({ ready, reasons }: Dmarc): { readonly tone: string; readonly word: string } => {
  if (ready) return { tone: "good", word: "yes" };
  return reasons.some(({ code }) => code === "already_strict")
    ? { tone: "good", word: "not needed" }
    : { tone: "grey", word: "not yet" };
};

const Readiness = ({ dmarc }: { readonly dmarc: Dmarc }) => {
  const { tone, word } = toVerdict(dmarc);
  return (
    <section class="panel wide sources" aria-labelledby="readiness">
      <h2 id="readiness">
        Is a stricter policy safe? <b class={`state ${tone}`}>{word}</b>
      </h2>
      {dmarc.policy !== undefined && (
        <p>
          The policy is <b>{dmarc.policy}</b>
          {dmarc.ready_for !== undefined && (
            <>
              . The reports allow <b>{dmarc.ready_for}</b>
            </>
          )}
          .
        </p>
      )}
      {dmarc.reasons.length > 0 && (
        <ul class="reasons">
          {dmarc.reasons.map(({ code, text }) => (
            <li key={code}>{text}</li>
          ))}
        </ul>
      )}
      <p class="soft">{toSums(dmarc)}</p>
      {dmarc.unaligned_sources.length > 0 && (
        <>
          <h3>Sources that send unaligned mail</h3>
          <SourceTable sources={dmarc.unaligned_sources} />
        </>
      )}
      {dmarc.unaligned_source_count > dmarc.unaligned_sources.length && (
        <p class="soft">
          The largest of {formatNumber(dmarc.unaligned_source_count)}. The reports list the others.
        </p>
      )}
    </section>
  );
};

const toSums = (dmarc: Dmarc): string => {
  const span = `${formatDay(dmarc.from)} to ${formatDay(dmarc.to)}`;
  if (dmarc.reports === 0) return `No DMARC report from ${span}.`;
  return [
    `${span}: ${formatCount(dmarc.reports, "report")} of ${formatCount(dmarc.reporters, "receiver")}`,
    `${formatCount(dmarc.days, "day")} with reports, ${formatNumber(dmarc.days_at_policy)} of them at this policy`,
    formatCount(dmarc.messages, "message") +
      (dmarc.aligned_share === undefined
        ? ""
        : `, ${formatShare(dmarc.aligned_share)} of them aligned`) +
      (dmarc.forwarded === 0
        ? ""
        : ` without the ${formatNumber(dmarc.forwarded)} that were forwarded`),
  ]
    .join("; ")
    .concat(".");
};
