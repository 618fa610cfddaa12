import type { ListRequestsData, ListRequestsInput } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import { useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAction } from "../../parts/action.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { loadNames } from "../../parts/names.ts";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { navigate, query } from "../../router.ts";
import { getClient, person } from "../../session.ts";
import { KeyNames, useKeyName } from "./key-names.ts";
import { type LogFilter, readFilter, STATUSES, toLogs } from "./log-query.ts";
import { RequestDetail } from "./request-detail.tsx";
import { type LoggedRequest, RequestTable } from "./request-table.tsx";
import "./logs.css";

const PAGE = 50;
const OLDER_PAGE = 200;

/** The service stores each call within a second, also a call made just before this screen opened. */
const QUICK_MS = 1_000;
const QUICK_FOR_MS = 5_000;
/** The screen then sends twenty requests a minute of the sixty that the smallest plan allows. */
const CALM_MS = 3_000;
/** A search may read thousands of requests that it does not show. */
const SEARCH_MS = 15_000;

const usePollPause = (isStill: boolean, isSearch: boolean): number | null => {
  const pause = useSignal(QUICK_MS);
  useLayoutEffect(() => {
    const timer = setTimeout(() => {
      pause.value = CALM_MS;
    }, QUICK_FOR_MS);
    return () => clearTimeout(timer);
  }, []);
  if (isStill) return null;
  return isSearch ? SEARCH_MS : pause.value;
};

/** The log works without names, because not everybody may list keys and people. */
const useKeyNames = (requests: readonly LoggedRequest[] = []) => {
  const { data, reload } = useLoad(loadNames);
  const names = useMemo(() => data ?? new Map<string, string>(), [data]);
  // A new key has a name by now; a revoked key has no name, and causes only one request.
  const [asked] = useState(() => new Set<string>());
  useLayoutEffect(() => {
    const unknown = requests.filter(({ key_id: id }) => !names.has(id) && !asked.has(id));
    if (!data || unknown.length === 0) return;
    for (const { key_id } of unknown) asked.add(key_id);
    reload();
  }, [requests, data]);
  return { names, reload };
};

type Page = ListRequestsData & { readonly of: string };

const useRequests = (filter: LogFilter) => {
  const of = JSON.stringify(filter);
  const read = async (more: ListRequestsInput, signal?: AbortSignal): Promise<Page> => ({
    ...(await getClient().listRequests({ ...filter, ...more }, signal && { signal })),
    of,
  });
  const load = useLoad((signal) => read({ limit: PAGE }, signal), [of]);
  const [older, setOlder] = useState<Page | null>(null);
  const behind = older?.of === of ? older : null;
  const last = behind ?? load.data;
  const offset = last?.of === of ? last.next_offset : undefined;
  const showOlder = useAction(async () => {
    if (offset === undefined) return;
    const page = await read({ limit: OLDER_PAGE, offset });
    setOlder({ ...page, requests: [...(behind?.requests ?? []), ...page.requests] });
  });
  // The newest page stays while older ones are shown: if it moved, requests between them would be missing.
  const isSearch = filter.q !== undefined || filter.key_id !== undefined;
  usePolling(load, usePollPause(behind !== null, isSearch));
  return {
    load,
    behind,
    hasOlder: offset !== undefined,
    showOlder,
    hideOlder: () => setOlder(null),
  };
};

const Older = ({ hasOlder, showOlder, behind, hideOlder, isEmpty }: OlderProps) => (
  <div class="logs-older">
    {showOlder.error !== undefined && (
      <ErrorPanel error={showOlder.error} onRetry={() => void showOlder.run()} />
    )}
    {hasOlder && (
      <button
        type="button"
        aria-disabled={showOlder.isRunning}
        onClick={() => void showOlder.run()}
      >
        {isEmpty ? "Search older requests" : "Show older requests"}
      </button>
    )}
    {behind && (
      <button type="button" onClick={hideOlder}>
        Show the newest again
      </button>
    )}
  </div>
);

type OlderProps = Omit<ReturnType<typeof useRequests>, "load"> & { readonly isEmpty: boolean };

export const Logs = () => {
  const filter = readFilter();
  const { load, ...paging } = useRequests(filter);
  const { names, reload: reloadNames } = useKeyNames(load.data?.requests);
  const id = query.value.get("request");
  const reload = () => {
    reloadNames();
    load.reload();
  };
  return (
    <KeyNames.Provider value={names}>
      <Screen
        title="Logs"
        lead="Requests of the last 7 days, except successful reads. Their content is not stored. New requests appear automatically."
      >
        <LogFilters filter={filter} />
        <Loaded load={{ ...load, reload }} what="the requests" as="rows">
          {({ requests: newest }) => {
            const requests = [...newest, ...(paging.behind?.requests ?? [])];
            const isEmpty = requests.length === 0;
            return (
              <>
                {!isEmpty && <RequestTable requests={requests} />}
                {isEmpty && (
                  <Empty shape="rows">
                    {paging.hasOlder
                      ? "None of the newest requests matches."
                      : "No matching requests in the last 7 days."}
                  </Empty>
                )}
                <Older {...paging} isEmpty={isEmpty} />
                <RequestDetail
                  id={id}
                  known={requests.find(({ request_id }) => request_id === id)}
                  onClose={() => navigate(toLogs({ request: "" }), { replace: true })}
                />
              </>
            );
          }}
        </Loaded>
      </Screen>
    </KeyNames.Provider>
  );
};

const TYPING_MS = 250;
const LENGTH_MAX = 100;

const open = (changes: Parameters<typeof toLogs>[0]): void =>
  navigate(toLogs(changes), { replace: true });

/** Starts the search a moment after the last key. */
const Search = ({ text }: { readonly text: string }) => {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // A link, Ctrl K or Back has changed the text.
  useLayoutEffect(() => {
    setTyped((before) => (before.trim() === text ? before : text));
    return () => clearTimeout(timer.current);
  }, [text]);
  const isAddress = typed.includes("@");
  const search = (value: string) => {
    clearTimeout(timer.current);
    setTyped(value);
    const q = value.trim();
    // An address must not be in a URL, and the log contains no address.
    if (!q.includes("@") && q !== text) timer.current = setTimeout(() => open({ q }), TYPING_MS);
  };
  return (
    <div class="logs-search">
      <input
        type="search"
        aria-label="Search by path, request id or error code"
        placeholder="Path, request id or error code"
        autocomplete="off"
        spellcheck={false}
        maxLength={LENGTH_MAX}
        value={typed}
        aria-invalid={isAddress}
        aria-describedby={isAddress ? "logs-no-address" : undefined}
        onInput={(event) => search(event.currentTarget.value)}
      />
      {isAddress && (
        <p class="field-error" id="logs-no-address" role="alert">
          No address is stored with a request. Search by its path, its id or its error code.
        </p>
      )}
    </div>
  );
};

/** Shows a choice of keys, when the signed-in key may list them or a link names a key. */
const KeyChoice = ({ chosen = "" }: { readonly chosen: string | undefined }) => {
  const names = useContext(KeyNames);
  const toName = useKeyName();
  const ids = [...new Set([...names.keys(), ...(chosen === "" ? [] : [chosen])])];
  if (ids.length === 0) return null;
  return (
    <select
      class="logs-key"
      aria-label={person.value ? "API key or person" : "API key"}
      value={chosen}
      onChange={(event) => open({ key: event.currentTarget.value })}
    >
      <option value="">{person.value ? "All keys and people" : "All keys"}</option>
      {ids.map((id) => (
        <option key={id} value={id}>
          {toName(id)}
        </option>
      ))}
    </select>
  );
};

const LogFilters = ({ filter: { status, q = "", key_id } }: { readonly filter: LogFilter }) => (
  <div class="logs-filters">
    <Search text={q} />
    <KeyChoice chosen={key_id} />
    <fieldset class="choice">
      <legend class="unseen">Status</legend>
      {[undefined, ...STATUSES].map((one) => (
        <label key={one ?? "all"}>
          <input
            type="radio"
            name="status"
            checked={status === one}
            onChange={() => open({ status: one ?? "" })}
          />
          {one ?? "All"}
        </label>
      ))}
    </fieldset>
  </div>
);
