import type { Delivery, ListDeliveriesData, Webhook } from "@mailproof/client";
import { useState } from "preact/hooks";
import { formatCount, formatTime } from "../../format.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { type Load, Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Empty } from "../../parts/shape.tsx";
import { getClient, may } from "../../session.ts";
import { EVENT_NAMES, type EventName } from "./events.tsx";
import { toFaultSentence } from "./fault-sentence.ts";

const POLL_MS = 2_000;

const isUnderWay = ({ status }: Delivery): boolean => status === "pending";

/** Polls during a manual delivery, and within a minute of the next attempt. */
const isWatched = ({ deliveries }: ListDeliveriesData): boolean =>
  deliveries.some(
    (one) =>
      isUnderWay(one) &&
      (one.next_attempt_at === null || Date.parse(one.next_attempt_at) - Date.now() < 60_000),
  );

type Props = {
  readonly webhook: Webhook;
  readonly onSent: () => void;
};

export const Deliveries = ({ webhook, onSent }: Props) => {
  const { id } = webhook;
  const load = useLoad((signal) => getClient().listDeliveries({ id }, { signal }), [id]);
  usePolling(load, load.data && isWatched(load.data) ? POLL_MS : null);
  const reload = () => {
    load.reload();
    onSent();
  };
  return (
    <>
      {may("webhooks:write") && <TestEvent id={id} onSent={reload} />}
      <section class="panel history" aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        <Log webhook={webhook} load={load} onSent={reload} />
      </section>
    </>
  );
};

const Log = ({ webhook, load, onSent }: Props & { readonly load: Load<ListDeliveriesData> }) => (
  <Loaded load={load} what="the deliveries" as="bars">
    {({ deliveries }) =>
      deliveries.length === 0 ? (
        <Empty shape="bars">Nothing has been sent yet. Send a test event.</Empty>
      ) : (
        <>
          <Chart deliveries={deliveries} />
          {may("webhooks:write") && (
            <Replay webhook={webhook} deliveries={deliveries} onSent={onSent} />
          )}
          <ul class="plain deliveries">
            {deliveries.map((delivery) => (
              <Entry key={delivery.id} webhook={webhook} delivery={delivery} onSent={onSent} />
            ))}
          </ul>
          <p class="soft">The last 100 deliveries of 30 days.</p>
        </>
      )
    }
  </Loaded>
);

const SERIES = [
  { name: "delivered", tone: "is-valid" },
  { name: "failed", tone: "is-invalid" },
  { name: "pending", tone: "is-unknown" },
] as const;

/** Counts each day's deliveries by outcome, from the oldest delivery below to today. */
const Chart = ({ deliveries }: ListDeliveriesData) => {
  const toDay = (at: string) => at.slice(0, 10);
  const byDay = Map.groupBy(deliveries, ({ created_at: at }) => toDay(at));
  const today = toDay(new Date().toISOString());
  const values = [...byDay].map(
    ([day, all]) =>
      [day, SERIES.map(({ name }) => all.filter(({ status }) => status === name).length)] as const,
  );
  return (
    <DayChart
      from={[today, ...byDay.keys()].toSorted()[0] ?? today}
      to={today}
      values={new Map(values)}
      series={SERIES}
      sum={formatCount(deliveries.length, "delivery", "deliveries")}
      what="Deliveries"
    />
  );
};

const TEST_EVENT = "webhook.test";

const TestEvent = ({ id, onSent }: { readonly id: string; readonly onSent: () => void }) => {
  const [event, setEvent] = useState<EventName | typeof TEST_EVENT>(TEST_EVENT);
  const [sent, setSent] = useState<Delivery | null>(null);
  const { isRunning, error, run } = useAction(async () => {
    const chosen = event === TEST_EVENT ? {} : { event };
    const { delivery } = await getClient().testWebhook({ id, ...chosen });
    setSent(delivery);
    onSent();
  });
  return (
    <section class="panel" aria-labelledby="test-event">
      <h2 id="test-event">Send a test event</h2>
      <form onSubmit={handleSubmit(run)}>
        <label for="event">Event</label>
        <div class="with-button">
          <select
            id="event"
            value={event}
            onChange={({ currentTarget }) =>
              setEvent(currentTarget.value as EventName | typeof TEST_EVENT)
            }
          >
            {[TEST_EVENT, ...EVENT_NAMES].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <button type="submit" aria-disabled={isRunning}>
            Send
          </button>
        </div>
      </form>
      <div aria-live="polite">
        {isRunning && <p class="waiting">Calling the address …</p>}
        {error !== undefined && <ErrorPanel error={error} />}
        {!isRunning && error === undefined && sent && (
          <p class={sent.status === "delivered" ? "good" : "bad"}>{toOutcome(sent)}</p>
        )}
      </div>
    </section>
  );
};

const toOutcome = ({ event, response_status, latency_ms, error }: Delivery): string => {
  const time = latency_ms === null ? "" : ` after ${formatCount(latency_ms, "millisecond")}`;
  if (response_status === null) return `${event} was not delivered. ${toFaultSentence(error)}`;
  return `The address responded to ${event} with ${response_status}${time}.`;
};

const Replay = ({ webhook, deliveries, onSent }: Props & ListDeliveriesData) => {
  const failed = deliveries.filter(({ status }) => status === "failed");
  const since = failed.at(-1)?.created_at ?? "";
  const [replayed, setReplayed] = useState<number | null>(null);
  const { isRunning, error, run } = useAction(async () => {
    let sum = 0;
    let next: string | null = since;
    while (next !== null) {
      const page: { replayed: number; next_since: string | null } =
        await getClient().replayDeliveries({ id: webhook.id, since: next });
      sum += page.replayed;
      next = page.next_since;
    }
    setReplayed(sum);
    onSent();
  });
  return (
    <div aria-live="polite">
      {failed.length > 0 && (
        <p>
          <button type="button" aria-disabled={isRunning} onClick={() => void run()}>
            {isRunning
              ? "Sending again …"
              : `Send all that failed since ${formatTime(since)} again`}
          </button>
        </p>
      )}
      {failed.length === 0 && replayed !== null && (
        <p>{formatCount(replayed, "delivery was", "deliveries were")} sent again.</p>
      )}
      {error !== undefined && <ErrorPanel error={error} onRetry={() => void run()} />}
    </div>
  );
};

const TONES: Readonly<Record<string, string>> = {
  delivered: "is-valid",
  failed: "is-invalid",
  pending: "is-pending",
};

type EntryProps = Props & { readonly delivery: Delivery };

const Entry = ({ webhook, delivery, onSent }: EntryProps) => {
  const { id, event, status, created_at, attempts } = delivery;
  const resend = useAction(async () => {
    await getClient().retryDelivery({ id: webhook.id, delivery_id: id });
    onSent();
  });
  return (
    <li>
      <details>
        <summary>
          <span class={`status ${TONES[status] ?? "is-unknown"}`}>{status}</span>{" "}
          <code>{event}</code>{" "}
          <span class="soft">
            {formatTime(created_at)} · {formatCount(attempts, "attempt")}
          </span>
        </summary>
        <Details delivery={delivery} />
        {resend.error !== undefined && <ErrorPanel error={resend.error} />}
        {may("webhooks:write") && (
          <button
            type="button"
            aria-disabled={resend.isRunning || isUnderWay(delivery)}
            onClick={() => void (isUnderWay(delivery) || resend.run())}
          >
            {isUnderWay(delivery) ? "Sending …" : "Send again"}
          </button>
        )}
      </details>
    </li>
  );
};

const Details = ({ delivery }: { readonly delivery: Delivery }) => {
  const { event_id, response_status, latency_ms, error, last_attempt_at, next_attempt_at } =
    delivery;
  const payload = delivery.payload && JSON.stringify(delivery.payload, null, 2);
  return (
    <>
      <dl class="facts">
        <dt>Event id</dt>
        <dd>
          <code>{event_id}</code>
        </dd>
        <dt>Last attempt</dt>
        <dd>{last_attempt_at === null ? "none yet" : formatTime(last_attempt_at)}</dd>
        <dt>Next attempt</dt>
        <dd>{next_attempt_at === null ? "none" : formatTime(next_attempt_at)}</dd>
        <dt>Response</dt>
        <dd>
          {response_status ?? error ?? "none"}
          {response_status === null && error !== null && (
            <span class="soft"> {toFaultSentence(error)}</span>
          )}
          {latency_ms !== null && (
            <span class="soft"> in {formatCount(latency_ms, "ms", "ms")}</span>
          )}
        </dd>
      </dl>
      {delivery.response_body !== null && (
        <>
          <h3>Start of the response</h3>
          <pre tabIndex={0}>{delivery.response_body}</pre>
        </>
      )}
      {payload && (
        <>
          <h3>
            Payload <CopyButton text={payload} />
          </h3>
          <pre tabIndex={0}>{payload}</pre>
        </>
      )}
    </>
  );
};
