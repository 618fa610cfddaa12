import type { ListRequestsData, ListRequestsInput } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { formatCount } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { Screen } from "../../parts/screen.tsx";
import { navigate, query } from "../../router.ts";
import { getClient } from "../../session.ts";
import "./logs.css";

type LoggedRequest = ListRequestsData["requests"][number];
type StatusClass = NonNullable<ListRequestsInput["status"]>;

const CLASSES = ["2xx", "4xx", "5xx"] as const satisfies readonly StatusClass[];
const PAGE = 50;

/** A call made just before this screen opened is stored within a second. */
const QUICK_MS = 1_000;
const QUICK_FOR_MS = 5_000;
/** After that, twenty requests a minute of the sixty that the smallest plan allows. */
const CALM_MS = 3_000;

const usePollPause = (): number => {
  const pause = useSignal(QUICK_MS);
  useLayoutEffect(() => {
    const timer = setTimeout(() => {
      pause.value = CALM_MS;
    }, QUICK_FOR_MS);
    return () => clearTimeout(timer);
  }, []);
  return pause.value;
};

const readStatus = (): StatusClass | undefined =>
  CLASSES.find((one) => one === query.value.get("status"));

export const Logs = () => {
  const status = readStatus();
  const limit = useSignal(PAGE);
  const load = useLoad(
    (signal) =>
      getClient().listRequests({ limit: limit.value, ...(status && { status }) }, { signal }),
    [status, limit.value],
  );
  usePolling(load, usePollPause());
  return (
    <Screen
      title="Logs"
      lead="Requests of the last 7 days, except successful reads. Their content is not stored. New requests appear automatically."
    >
      <fieldset class="choice">
        <legend>Status</legend>
        {[undefined, ...CLASSES].map((one) => (
          <label key={one ?? "all"}>
            <input
              type="radio"
              name="status"
              checked={status === one}
              onChange={() => navigate(one ? `logs?status=${one}` : "logs", { replace: true })}
            />
            {one ?? "All"}
          </label>
        ))}
      </fieldset>
      <Loaded load={load} what="the requests">
        {({ requests, has_more }) => (
          <>
            <RequestTable requests={requests} />
            {has_more && limit.value < MOST && (
              <button type="button" onClick={() => (limit.value = MOST)}>
                Show up to {MOST}
              </button>
            )}
          </>
        )}
      </Loaded>
    </Screen>
  );
};

const time = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** With seconds, since requests are close together, and without the year, since they are at most seven days old. */
const toTime = (iso: string): string => time.format(new Date(iso));

/** The largest page. */
const MOST = 200;

/** The start of an id tells keys apart. The tooltip has the whole id. */
const shorten = (id: string): string => `${id.slice(0, 12)}…`;

const toTone = (status: number): string =>
  status >= 500 ? "is-invalid" : status >= 400 ? "is-risky" : "is-valid";

const COLUMNS: readonly Column<LoggedRequest>[] = [
  {
    title: "Request",
    isHeader: true,
    cell: ({ method, route }) => (
      <code>
        {method} {route}
      </code>
    ),
  },
  {
    title: "Status",
    cell: ({ status, error_code }) => (
      <>
        <span class={`status ${toTone(status)}`}>{status}</span>
        {error_code !== null && <small class="error-code"> {error_code}</small>}
      </>
    ),
  },
  { title: "Time", cell: ({ at }) => <time dateTime={at}>{toTime(at)}</time> },
  { title: "ms", isNumber: true, cell: ({ duration_ms }) => duration_ms },
  {
    title: "Request id",
    cell: ({ request_id }) => (
      <>
        <code>{request_id}</code> <CopyButton text={request_id} />
      </>
    ),
  },
  { title: "Key", cell: ({ key_id }) => <code title={key_id}>{shorten(key_id)}</code> },
];

const RequestTable = ({ requests }: { readonly requests: readonly LoggedRequest[] }) =>
  requests.length === 0 ? (
    <p class="soft">No matching requests in the last 7 days.</p>
  ) : (
    <div class="scroll requests" tabIndex={0} role="region" aria-label="Requests">
      <RowTable
        label={`${formatCount(requests.length, "request")}, newest first`}
        columns={COLUMNS}
        rows={requests}
        getKey={({ request_id }) => request_id}
      />
    </div>
  );
