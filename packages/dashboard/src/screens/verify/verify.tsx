import type { ResultRow, VerifyEmailData } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatClock, formatCount } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { OneLineForm } from "../../parts/one-line-form.tsx";
import { usePrices } from "../../parts/price.ts";
import { ReachNotice } from "../../parts/reach-notice.tsx";
import { Screen } from "../../parts/screen.tsx";
import { address, path } from "../../router.ts";
import { account, getClient, isTestKey, refreshAccount, sessionId } from "../../session.ts";
import { Verdict } from "./verdict.tsx";
import "./verify.css";
import { createRandomId } from "@mailproof/client/random-id";
import { API_URL, toHref } from "../../base.ts";
import { useLoad, usePolling } from "../../parts/load.tsx";

const PATH = "verify";

type State =
  | { readonly kind: "empty" }
  | { readonly kind: "asking"; readonly intent: Intent }
  | { readonly kind: "failed"; readonly intent: Intent; readonly error: unknown }
  | {
      readonly kind: "answered";
      readonly intent: Intent;
      readonly data: VerifyEmailData | ResultRow;
    };

const useVerification = () => {
  const state = useSignal<State>({ kind: "empty" });
  const run = (intent: Intent): void => {
    storeIntent(intent);
    state.value = { kind: "asking", intent };
    const isCurrent = () => {
      const now = state.peek();
      return now.kind === "asking" && now.intent === intent;
    };
    const { email, idempotencyKey } = intent;
    getClient()
      .verifyEmail({ email, options: OPTIONS }, { idempotencyKey })
      .then(
        (data) => {
          if (isCurrent()) state.value = { kind: "answered", intent, data };
          void refreshAccount();
        },
        (error: unknown) => {
          if (isCurrent()) state.value = { kind: "failed", intent, error };
        },
      );
  };
  return { state, run };
};

type Verification = {
  readonly state: State;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly verify: (email: string) => void;
  readonly verifyAfresh: (email: string) => void;
  readonly retry: (intent: Intent) => void;
  readonly onResult: (row: ResultRow) => void;
};

const useScreen = (): Verification => {
  const field = useRef<HTMLInputElement>(null);
  const { state, run } = useVerification();
  const visit = address.value;
  useLayoutEffect(() => {
    // The screen stays until the code of the next one has loaded.
    if (path.peek() !== PATH) return;
    const intent = readIntent();
    if (field.current) field.current.value = intent?.email ?? "";
    if (intent) run(intent);
    else {
      state.value = { kind: "empty" };
      field.current?.focus({ preventScroll: true });
    }
  }, [visit]);
  const now = state.value;
  const isSame = (email: string) => now.kind !== "empty" && now.intent.email === email;
  return {
    state: now,
    field,
    verify: (email) => {
      if (field.current) field.current.value = email;
      // The same text again is the same intent, so it costs nothing.
      if (now.kind === "empty" || !isSame(email)) run(createIntent(email));
      else if (now.kind !== "asking") run(now.intent);
    },
    verifyAfresh: (email) => run(createIntent(email)),
    retry: run,
    onResult: (data) => {
      if (now.kind === "answered") state.value = { ...now, data };
    },
  };
};

const PriceHint = () => {
  const { verify, verify_from_cache: again } = usePrices();
  const price =
    verify !== undefined &&
    again !== undefined &&
    `${formatCount(verify, "credit")}; ${formatCount(again, "credit")} if it had a result within 24 hours.`;
  return (
    <p class="soft">
      {isTestKey.value
        ? "Free with a test key. Try invalid@example.com, full@example.com or slow@example.com."
        : price}
    </p>
  );
};

const AddressForm = ({ state, field, verify }: Verification) => (
  <OneLineForm
    id="email"
    label="Address"
    inputMode="email"
    placeholder="ada@example.com"
    action="Verify"
    isBusy={state.kind === "asking"}
    field={field}
    onText={verify}
  >
    <PriceHint />
  </OneLineForm>
);

const LAB_EXAMPLES = [
  "ada.lovelace@valid",
  "nobody@valid",
  "ada.lovelace@catchall",
  "ada.lovelace@full",
];

/** In a server with the lab, only the lab's addresses have results. */
const LabExamples = ({ state, verify }: Verification) =>
  state.kind === "empty" && account.value?.reach.state === "lab" && !isTestKey.value ? (
    <p class="lab-examples">
      Addresses of the lab that is built in:{" "}
      {LAB_EXAMPLES.map((name) => (
        <button
          key={name}
          type="button"
          class="quiet"
          onClick={() => verify(`${name}.lab.mailproof.test`)}
        >
          {name}
        </button>
      ))}
    </p>
  ) : null;

const getDomain = (email: string): string => email.slice(email.lastIndexOf("@") + 1);

const Answer = ({ state, verify, verifyAfresh, retry, onResult }: Verification) => {
  if (state.kind === "empty") return null;
  const { intent } = state;
  if (state.kind === "asking")
    return <p class="waiting">Asking the mail server of {getDomain(intent.email)} …</p>;
  if (state.kind === "failed")
    return <ErrorPanel error={state.error} onRetry={() => retry(intent)} />;
  const { data } = state;
  if (data.status === "pending")
    return <Pending jobId={data.job_id} email={data.email} onResult={onResult} />;
  return (
    <>
      <Verdict result={data} onVerify={verify} />
      <p class="again">
        <button type="button" onClick={() => verifyAfresh(intent.email)}>
          Verify again
        </button>{" "}
        {!isTestKey.value && <span class="soft">It is charged again, at the price above.</span>}
      </p>
    </>
  );
};

export const Verify = () => {
  const verification = useScreen();
  const { state } = verification;
  return (
    <Screen
      title="Verify one address"
      lead="Its verdict, how the score adds up, and the evidence."
      actions={
        state.kind === "answered" && (
          <CopyButton label="Copy as curl" text={() => toCurl(state.intent.email)} />
        )
      }
    >
      <ReachNotice />
      <AddressForm {...verification} />
      <LabExamples {...verification} />
      <div aria-live="polite" aria-busy={state.kind === "asking"}>
        <Answer {...verification} />
      </div>
    </Screen>
  );
};

const OPTIONS = { include_evidence: true, timeout_ms: 10_000 } as const;

/** In a POSIX shell, a quote ends the string, so the function escapes it and reopens the string. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Writes the same request for a shell, with the variable of the key, not the key itself. */
const toCurl = (email: string): string =>
  [
    `curl -s ${quote(`${API_URL}/v1/verify`)}`,
    `-H "X-Api-Key: $MAILPROOF_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify({ email, options: OPTIONS }))}`,
  ].join(" \\\n  ");

/**
 * The intention to verify one address, with the Idempotency-Key of all its requests: a double click, a retry, a reload and Back repeat it,
 * and are charged once. The state of the history entry stores it, so no URL contains it.
 */
type Intent = {
  readonly email: string;
  readonly idempotencyKey: string;
  /** Another key that signs in later must not pay for it. */
  readonly session: string;
  readonly at: number;
};

/** The API stores a response for a day. After that a repeat would be charged again. */
const REPEATABLE_MS = 12 * 60 * 60 * 1000;

const createIntent = (email: string): Intent => ({
  email,
  idempotencyKey: createRandomId(),
  session: sessionId.value,
  at: Date.now(),
});

const storeIntent = (intent: Intent): void => history.replaceState({ intent }, "");

type HistoryState = { readonly intent?: Intent; readonly email?: string } | null;

/** Reads an intent to repeat, or an address from another screen, from this history entry; otherwise null. */
const readIntent = (): Intent | null => {
  const { intent, email } = (history.state as HistoryState) ?? {};
  if (email !== undefined) return createIntent(email);
  if (!intent || intent.session !== sessionId.value) return null;
  return Date.now() - intent.at < REPEATABLE_MS ? intent : null;
};

const POLL_MS = 2_000;

type Props = {
  readonly jobId: string;
  readonly email: string;
  readonly onResult: (row: ResultRow) => void;
};

const Pending = ({ jobId, email, onResult }: Props) => {
  const load = useLoad(
    async (signal) => {
      const job = await getClient().getJob({ id: jobId }, { signal });
      const number = job.results?.[0]?.row;
      if (number === undefined) return { job };
      return { job, row: await getClient().getJobRow({ id: jobId, row: `${number}` }, { signal }) };
    },
    [jobId],
  );
  const { error } = load;
  const { job: data, row } = load.data ?? {};
  const isOver = row !== undefined || data?.completed_at !== undefined;
  usePolling(load, isOver ? null : POLL_MS);
  useLayoutEffect(() => {
    if (row) onResult(row);
  }, [row]);
  const { deferred } = data ?? {};
  const [cause] = Object.keys(deferred?.by_reason ?? {});
  return (
    <section class="panel main" aria-labelledby="pending">
      <h2 id="pending">{email}</h2>
      <p role="status">
        <span class="status is-pending">pending</span>{" "}
        {data?.error ??
          (deferred
            ? `The mail server has not given a result yet (${cause}). The next attempt is at ${formatClock(deferred.next_attempt_at)}; this page shows its result automatically.`
            : "The mail server is slow to respond. The result will appear here.")}
      </p>
      <p class="soft">
        It continues as job{" "}
        <a href={toHref(`lists/${jobId}`)}>
          <code>{jobId}</code>
        </a>
        , even when this page is closed.
      </p>
      {error !== undefined && <ErrorPanel error={error} onRetry={load.reload} />}
    </section>
  );
};
