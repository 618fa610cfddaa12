import type { VerificationResult } from "@mailproof/client";
import { formatCount, formatShare } from "../../format.ts";
import { Head } from "../../parts/row-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { toProviderWords } from "../../parts/words.ts";
import { isTestKey } from "../../session.ts";
import { getAdvice, toReasonSentence } from "./advice.ts";
import { type Evidence, EvidencePanel } from "./evidence.tsx";

type Result = VerificationResult & {
  readonly cached?: boolean;
  readonly message?: string;
  readonly credits_used?: number;
};

const CHECKS = {
  syntax_valid: "Well formed",
  domain_exists: "The domain exists",
  mx_found: "The domain has a mail host",
  smtp_check: "The mail server replied about the address",
  mailbox_exists: "The mailbox exists",
  catch_all: "The server accepts every address",
} as const;

type CheckName = keyof typeof CHECKS;
type Answer = { readonly text: string; readonly tone: "good" | "bad" | "soft" };

const NOT_CHECKED: Answer = { text: "not checked", tone: "soft" };
const UNPROVEN: Answer = { text: "not known", tone: "soft" };

const getAnswer = (name: CheckName, result: Result): Answer => {
  const { verification } = result;
  const { not_known, ...checks } = verification;
  const isOpen = not_known.some((one) => one === name);
  // The server's reply is unknown only when the server was not asked.
  if (isOpen && not_known.includes("smtp_check")) return NOT_CHECKED;
  if (name !== "syntax_valid" && !verification.syntax_valid) return NOT_CHECKED;
  if (name === "catch_all") return getCatchAllAnswer(result);
  if (isOpen) return UNPROVEN;
  if (checks[name]) return { text: "yes", tone: "good" };
  return { text: "no", tone: name === "smtp_check" ? "soft" : "bad" };
};

/** Of all checks, only catch-all has a bad "yes". */
const getCatchAllAnswer = ({ verification: { catch_all, not_known } }: Result): Answer => {
  if (catch_all) return { text: "yes", tone: "bad" };
  return not_known.includes("catch_all") ? UNPROVEN : { text: "no", tone: "good" };
};

/** Writes yes and no in words as well, since some people cannot see the colours. */
const Checks = (result: Result) => (
  <section class="panel" aria-labelledby="checks">
    <h2 id="checks">Checks</h2>
    <dl class="pairs checks">
      {Object.entries(CHECKS).map(([name, title]) => {
        const { text, tone } = getAnswer(name as CheckName, result);
        return (
          <div key={name}>
            <dt>{title}</dt>
            <dd class={tone}>{text}</dd>
          </div>
        );
      })}
    </dl>
  </section>
);

const Suggestion = ({ result: { ai }, onVerify }: Props) =>
  ai?.typo_suggestion ? (
    <p class="notice">
      Did you mean <b>{ai.typo_suggestion}</b>?{" "}
      {ai.typo_confidence !== null && (
        <span class="soft">Probability {formatShare(ai.typo_confidence)}. </span>
      )}
      <button type="button" class="quiet" onClick={() => onVerify(ai.typo_suggestion ?? "")}>
        Verify it
      </button>
    </p>
  ) : null;

const Details = ({ provider, flags, enrichment, ai, cached, credits_used, message }: Result) => (
  <ul class="details">
    {provider && provider !== "other" && (
      <li>
        Mail provider: {toProviderWords(provider)}
        {flags.forwarding_mx && ", which only forwards mail"}
      </li>
    )}
    {enrichment.full_name !== "" && <li>Name: {enrichment.full_name}</li>}
    {ai?.catch_all_confidence !== undefined && (
      <li>Probability that the mailbox exists: {formatShare(ai.catch_all_confidence)}</li>
    )}
    {credits_used !== undefined && <li>Charged: {formatCount(credits_used, "credit")}</li>}
    {cached && <li>From the last 24 hours, at half the price</li>}
    {message && <li>{message}</li>}
  </ul>
);

type Props = {
  readonly result: Result;
  readonly onVerify: (email: string) => void;
};

export const Verdict = ({ result, onVerify }: Props) => {
  const { email, status, reason, sub_status, quality_score, evidence } = result;
  const { advice, tone, means } = getAdvice(status, reason);
  const sentence = toReasonSentence(reason);
  const { score: parts, ...others } = (evidence ?? {}) as Evidence;
  return (
    <>
      <section class={`panel main verdict is-${status}`} aria-labelledby="verdict">
        <div>
          <h2 id="verdict">{email}</h2>
          <p class="answer-line">
            <StatusBadge status={status} />{" "}
            <b class={tone}>{isTestKey.value ? `Simulated: ${advice}` : advice}</b>
          </p>
          {isTestKey.value && (
            <p>A test key's results are made up from the address: no mail server was asked.</p>
          )}
          <p>
            {means} {sentence}
          </p>
          <p class="soft">
            Reason <code>{reason}</code>
            {sub_status !== null && (
              <>
                , <code>{sub_status}</code>
              </>
            )}
          </p>
        </div>
        <p class="score">
          <b>{quality_score}</b>
          <small> of 100</small>
        </p>
      </section>
      <Suggestion result={result} onVerify={onVerify} />
      <div class="panels">
        {parts && (
          <section class="panel" aria-labelledby="score">
            <h2 id="score">Score</h2>
            <Waterfall parts={parts} score={quality_score} />
            <Details {...result} />
          </section>
        )}
        <Checks {...result} />
        {evidence && <EvidencePanel evidence={others} />}
      </div>
    </>
  );
};

type Part = { readonly part: string; readonly points: number };

type WaterfallProps = { readonly parts: readonly Part[]; readonly score: number };

const stack = (parts: readonly Part[]) => {
  let sum = 0;
  return parts.map(({ part, points }, at) => {
    const from = sum;
    sum += points;
    return { part, points, isFirst: at === 0, x: Math.min(from, sum), width: Math.abs(points) };
  });
};

const formatPoints = (points: number, isFirst: boolean): string =>
  points < 0 ? `− ${-points}` : isFirst ? String(points) : `+ ${points}`;

/** Shows the score as the sum of its parts: each bar starts where the previous one ends. */
const Waterfall = ({ parts, score }: WaterfallProps) => (
  <table class="waterfall">
    <caption class="unseen">The parts of the score, which add up to it</caption>
    <Head class="unseen" titles={["Part", "Points", "Picture"]} />
    <tbody>
      {stack(parts).map(({ part, points, isFirst, x, width }) => (
        <tr key={part}>
          <th scope="row">{part}</th>
          <td class="number">{formatPoints(points, isFirst)}</td>
          <td class="bar-cell">
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width="100" height="8" />
              <rect
                class={isFirst ? "start" : points < 0 ? "less" : "more"}
                x={x}
                width={width}
                height="8"
              />
            </svg>
          </td>
        </tr>
      ))}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">Score</th>
        <td class="number">{score}</td>
        <td class="bar-cell">
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="track" width="100" height="8" />
            <rect class="start" width={score} height="8" />
          </svg>
        </td>
      </tr>
    </tfoot>
  </table>
);
