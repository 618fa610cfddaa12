import { toDocsHref } from "../../base.ts";
import { formatNumber } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { getClient } from "../../session.ts";
import { useKeyName } from "./key-names.ts";
import { HttpStatus, type LoggedRequest, Route, toTime } from "./request-table.tsx";

/** One page of the API reads the newest 5,000 requests. */
const PAGES = 10;

const findRequest = async (id: string, signal: AbortSignal): Promise<LoggedRequest | null> => {
  let offset: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const input = { q: id, limit: 1, ...(offset !== undefined && { offset }) };
    const { requests, next_offset } = await getClient().listRequests(input, { signal });
    const found = requests.find(({ request_id }) => request_id === id);
    if (found) return found;
    offset = next_offset;
    if (offset === undefined) break;
  }
  return null;
};

const NotStored = () => (
  <p role="status">
    No request with this id is among those that are stored: requests of the last 7 days, except
    successful reads, a second after their response.
  </p>
);

const Facts = ({ request }: { readonly request: LoggedRequest }) => {
  const { status, error_code, at, duration_ms, key_id, request_id } = request;
  const toName = useKeyName();
  return (
    <dl class="request-facts">
      <dt>Request</dt>
      <dd>
        <Route {...request} />
      </dd>
      <dt>Status</dt>
      <dd>
        <HttpStatus status={status} />
      </dd>
      {error_code !== null && (
        <>
          <dt>Error</dt>
          <dd>
            <a href={toDocsHref(`/errors#${error_code}`)}>
              <code>{error_code}</code>
            </a>
          </dd>
        </>
      )}
      <dt>Time</dt>
      <dd>
        <time dateTime={at}>{toTime(at)}</time>
      </dd>
      <dt>Duration</dt>
      <dd>{formatNumber(duration_ms)} ms</dd>
      <dt>By</dt>
      <dd>
        {toName(key_id)}
        <small>
          <code>{key_id}</code>
        </small>
      </dd>
      <dt>Request id</dt>
      <dd>
        <code>{request_id}</code> <CopyButton text={request_id} />
      </dd>
    </dl>
  );
};

type Props = {
  readonly id: string;
  /** The request from the table behind the dialog; absent while only a link names the request. */
  readonly known: LoggedRequest | undefined;
};

const Detail = ({ id, known }: Props) => {
  const load = useLoad(async (signal) => known ?? (await findRequest(id, signal)), [id]);
  return (
    <Loaded load={load} what="the request">
      {(found) => {
        const request = known ?? found;
        return request ? <Facts request={request} /> : <NotStored />;
      }}
    </Loaded>
  );
};

type DialogProps = Omit<Props, "id"> & {
  readonly id: string | null;
  readonly onClose: () => void;
};

export const RequestDetail = ({ id, known, onClose }: DialogProps) => (
  <Dialog title="Request" isOpen={id !== null} onClose={onClose}>
    {id !== null && <Detail key={id} id={id} known={known} />}
    <div class="actions">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Dialog>
);
