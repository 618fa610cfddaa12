import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { formatCount } from "../../format.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { usePrices } from "../../parts/price.ts";
import { getClient, isTestKey } from "../../session.ts";

const HOURS_OF_MONTH = 30 * 24;
const INTERVALS = [
  [24, "Every day"],
  [3 * 24, "Every 3 days"],
  [7 * 24, "Every week"],
  [30 * 24, "Every 30 days"],
] as const;

const Price = ({ checks }: { readonly checks: number }) => {
  const { deliverability_check: price } = usePrices();
  if (isTestKey.value) return <p>Free with a test key.</p>;
  if (price === undefined) return <p>Loading the price …</p>;
  return (
    <p aria-live="polite">
      <b>{formatCount(price * checks, "credit")} a month</b>: {formatCount(checks, "check")} of{" "}
      {formatCount(price, "credit")}. The first check runs immediately.
    </p>
  );
};

type Props = {
  readonly domain?: string;
  readonly sendingIp?: string | null;
  readonly onAdded: (domain: string) => void;
};

/** Every run of a monitor costs a check, so the monthly price is next to the button. */
export const WatchForm = ({ domain, sendingIp, onAdded }: Props) => {
  const [fieldId, hoursId] = [useId(), useId()];
  const field = useRef<HTMLInputElement>(null);
  const hours = useSignal<number>(24);
  const { isRunning, error, run } = useAction(async () => {
    const name = domain ?? field.current?.value.trim() ?? "";
    if (name === "") return field.current?.focus();
    await getClient().createMonitor({
      domain: name,
      interval_hours: hours.value,
      ...(typeof sendingIp === "string" && { sending_ip: sendingIp }),
    });
    if (field.current) field.current.value = "";
    onAdded(name);
  });
  return (
    <form noValidate class="watch-form" onSubmit={handleSubmit(run)}>
      {domain === undefined && (
        <p>
          <label for={fieldId}>Domain</label>
          <input
            ref={field}
            id={fieldId}
            type="text"
            inputMode="url"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="example.com"
          />
        </p>
      )}
      <p>
        <label for={hoursId}>How often</label>
        <select
          id={hoursId}
          value={hours.value}
          onChange={(event) => (hours.value = Number(event.currentTarget.value))}
        >
          {INTERVALS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </p>
      <Price checks={HOURS_OF_MONTH / hours.value} />
      {error !== undefined && <ErrorPanel error={error} />}
      <button type="submit" class="primary" aria-disabled={isRunning}>
        Add the monitor
      </button>
    </form>
  );
};
