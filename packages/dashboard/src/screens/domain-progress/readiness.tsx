import type { GetDomainProgressData } from "@mailproof/client";
import { formatCount, formatDay, formatNumber, formatShare } from "../../format.ts";
import { SourceTable } from "../domain-reports/sources.tsx";

type Dmarc = GetDomainProgressData["dmarc"];

/** Says in one word whether a stricter policy is safe. Without evidence the word is grey. */
const toVerdict = ({ ready, reasons }: Dmarc): { readonly tone: string; readonly word: string } => {
  if (ready) return { tone: "good", word: "yes" };
  return reasons.some(({ code }) => code === "already_strict")
    ? { tone: "good", word: "not needed" }
    : { tone: "grey", word: "not yet" };
};

export const Readiness = ({ dmarc }: { readonly dmarc: Dmarc }) => {
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
