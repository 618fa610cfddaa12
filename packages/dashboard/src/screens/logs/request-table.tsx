import type { ListRequestsData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber } from "../../format.ts";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { navigate } from "../../router.ts";
import { useKeyName } from "./key-names.ts";
import { toLogs } from "./log-query.ts";

export type LoggedRequest = ListRequestsData["requests"][number];

const time = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** Shows seconds, since requests are close together, and no year, since they are at most seven days old. */
export const toTime = (iso: string): string => time.format(new Date(iso));

const toTone = (status: number): string =>
  status >= 500 ? "is-invalid" : status >= 400 ? "is-risky" : "is-valid";

export const HttpStatus = ({ status }: Pick<LoggedRequest, "status">) => (
  <span class={`status ${toTone(status)}`}>{status}</span>
);

export const Route = ({ method, route }: Pick<LoggedRequest, "method" | "route">) => (
  <code>
    {method}{" "}
    {route.split(/(?<=.\/)/).map((part) => (
      <>
        {part}
        <wbr />
      </>
    ))}
  </code>
);

const COLUMNS: readonly Column<LoggedRequest>[] = [
  {
    title: "Request",
    isHeader: true,
    cell: ({ request_id, ...request }) => (
      <>
        <a href={toHref(toLogs({ request: request_id }))} data-request={request_id}>
          <Route {...request} />
        </a>
        <small>
          <code>{request_id}</code>
        </small>
      </>
    ),
  },
  {
    title: "Status",
    cell: ({ status, error_code }) => (
      <>
        <HttpStatus status={status} />
        {error_code !== null && (
          <small>
            <code>{error_code}</code>
          </small>
        )}
      </>
    ),
  },
  { title: "Time", cell: ({ at }) => <time dateTime={at}>{toTime(at)}</time> },
  {
    title: "Duration",
    isNumber: true,
    cell: ({ duration_ms }) => `${formatNumber(duration_ms)} ms`,
  },
  { title: "By", cell: ({ key_id }) => <KeyName id={key_id} /> },
];

const KeyName = ({ id }: { readonly id: string }) => {
  const name = useKeyName()(id);
  return (
    <span class="logs-key-name" title={name}>
      {name}
    </span>
  );
};

/** A click anywhere on a row counts as a click on its link, which stays a link for a new tab. */
const openRow = (event: MouseEvent): void => {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey || !(target instanceof Element))
    return;
  const link = target.closest("tr")?.querySelector<HTMLElement>("a[data-request]");
  const request = link?.dataset["request"];
  // A click that ends the selection of a text opens nothing.
  if (request === undefined || getSelection()?.isCollapsed === false) return;
  event.preventDefault();
  // The focus returns to this link when the dialog closes.
  link?.focus({ preventScroll: true });
  navigate(toLogs({ request }), { replace: true });
};

export const RequestTable = ({ requests }: { readonly requests: readonly LoggedRequest[] }) => (
  <div class="scroll requests" tabIndex={0} role="region" aria-label="Requests" onClick={openRow}>
    <RowTable
      label={`${formatCount(requests.length, "request")}, newest first`}
      columns={COLUMNS}
      rows={requests}
      getKey={({ request_id }) => request_id}
    />
  </div>
);
