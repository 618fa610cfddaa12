import type { VerifyEmailData } from "@mailproof/client";
import { createRandomId } from "@mailproof/client/random-id";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toHref } from "../base.ts";
import { formatCount } from "../format.ts";
import { useAction } from "../parts/action.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { usePolling } from "../parts/load.tsx";
import { OneLineForm } from "../parts/one-line-form.tsx";
import { usePrices } from "../parts/price.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import {
  account,
  accountError,
  getClient,
  isTestKey,
  may,
  person,
  refreshAccount,
} from "../session.ts";
import { NextTime, openOverview, PersonPage, useWays } from "./person-page.tsx";

const MEASURE_MS = 5_000;
const LAB_ADDRESS = "ada.lovelace@valid.lab.mailproof.test";

/** After the first sign-in: what this service reaches, a first verdict, and a way to sign in next time. */
export const Welcome = () => {
  useLayoutEffect(() => {
    void refreshAccount();
  }, [getClient()]);
  const ways = useWays();
  // A server measures its reach soon after its start.
  const isMeasured = account.value && account.value.reach.state !== "not_measured";
  usePolling(
    { data: account.value, error: accountError.value, reload: refreshAccount },
    isMeasured ? null : MEASURE_MS,
  );
  const hasWay = (person.value?.passkeys.length ?? 0) + (person.value?.identities.length ?? 0) > 0;
  return (
    <PersonPage title={`Welcome, ${person.value?.name}`}>
      {account.value && (
        <section aria-labelledby="reach">
          <h2 id="reach">What this service reaches</h2>
          <p>{account.value.reach.message}</p>
        </section>
      )}
      {may("verification:write") && account.value && <FirstAddress />}
      <section aria-labelledby="next-time">
        <h2 id="next-time">Next time</h2>
        {hasWay ? (
          <p role="status">You can sign in again, on this device and after this session.</p>
        ) : (
          <>
            <p>This link works once. Choose how you sign in next time, or do it within 7 days.</p>
            <NextTime ways={ways.data} onDone={() => {}} />
            {ways.error !== undefined && <ErrorPanel error={ways.error} onRetry={ways.reload} />}
          </>
        )}
      </section>
      <button type="button" class={hasWay ? "primary" : ""} onClick={openOverview}>
        {hasWay ? "Go to the overview" : "Later: go to the overview"}
      </button>
    </PersonPage>
  );
};

const FirstAddress = () => {
  const field = useRef<HTMLInputElement>(null);
  const isLab = account.value?.reach.state === "lab";
  useLayoutEffect(() => {
    if (field.current?.value === "" && isLab) field.current.value = LAB_ADDRESS;
  }, [isLab]);
  const { verify: price } = usePrices();
  const answered = useSignal<VerifyEmailData | null>(null);
  // A retry of the same address has the same key, and is charged once.
  const intent = useRef({ email: "", idempotencyKey: "" });
  const verify = useAction(async (email: string) => {
    if (intent.current.email !== email)
      intent.current = { email, idempotencyKey: createRandomId() };
    const { idempotencyKey } = intent.current;
    answered.value = await getClient().verifyEmail({ email }, { idempotencyKey });
    void refreshAccount();
  });
  return (
    <section aria-labelledby="first-address">
      <h2 id="first-address">Your first address</h2>
      <OneLineForm
        id="first-email"
        label="Address"
        inputMode="email"
        placeholder="ada@example.com"
        action="Verify"
        isBusy={verify.isRunning}
        field={field}
        onText={(email) => void verify.run(email)}
      >
        <p class="soft">
          {isTestKey.value
            ? "Free."
            : price !== undefined && `It costs ${formatCount(price, "credit")}.`}{" "}
          {!isTestKey.value &&
            `You have ${formatCount(account.value?.credits.available ?? 0, "credit")}.`}
        </p>
      </OneLineForm>
      <div aria-live="polite" aria-busy={verify.isRunning}>
        {verify.error !== undefined && <ErrorPanel error={verify.error} />}
        {answered.value && <Answer data={answered.value} />}
      </div>
    </section>
  );
};

const Answer = ({ data }: { readonly data: VerifyEmailData }) =>
  data.status === "pending" ? (
    <p>
      The mail server wants to be asked again. <a href={toHref("lists?kind=single")}>Lists</a> shows
      the result.
    </p>
  ) : (
    <p>
      <StatusBadge status={data.status} /> {data.email} has {data.quality_score} of 100 points. The
      screen <a href={toHref("verify")}>Verify one address</a> also shows the evidence.
    </p>
  );
