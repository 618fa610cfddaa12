import type { ComponentChildren } from "preact";
import type { MessageReport } from "./mail-test.ts";

/** The state of one check. An unknown state is grey, never red. */
export type State = { readonly tone: "good" | "warn" | "bad" | "grey"; readonly word: string };

const RESULTS: Readonly<Record<string, State>> = {
  pass: { tone: "good", word: "passes" },
  fail: { tone: "bad", word: "fails" },
  softfail: { tone: "warn", word: "softfail" },
  neutral: { tone: "warn", word: "neutral" },
  policy: { tone: "warn", word: "valid, but too weak" },
  none: { tone: "bad", word: "no record" },
  permerror: { tone: "bad", word: "cannot be evaluated" },
  temperror: { tone: "grey", word: "no answer" },
};

export const NOT_MEASURED: State = { tone: "grey", word: "not measured" };

export const toState = (result: string): State => RESULTS[result] ?? { tone: "grey", word: result };

/** Undefined when DNS did not answer. */
export const toYesNo = (value: boolean | undefined, yes: string, no: string): State =>
  value === undefined
    ? NOT_MEASURED
    : value
      ? { tone: "good", word: yes }
      : { tone: "bad", word: no };

export const StateWord = ({ tone, word }: State) => <b class={`state ${tone}`}>{word}</b>;

type CardProps = {
  readonly title: string;
  readonly state: State | null;
  /** The card's score in its part, from 0 to 100. Undefined when it has no score, or was not measured. */
  readonly score?: number | undefined;
  readonly children: ComponentChildren;
};

export const Card = ({ title, state, score, children }: CardProps) => (
  <section class="panel card mail-card" aria-label={title}>
    <h3>
      {title} {state && <StateWord {...state} />}
      {score !== undefined && <span class="card-score">{score}</span>}
    </h3>
    {children}
  </section>
);

type DetailProps = { readonly name: string; readonly children: ComponentChildren };

export const Detail = ({ name, children }: DetailProps) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export type ReportProps = { readonly report: MessageReport };

export const getScore = (report: MessageReport, part: string): number | undefined =>
  report.score_parts.components.find(({ component }) => component === part)?.score;
