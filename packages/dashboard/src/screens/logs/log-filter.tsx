import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../../router.ts";
import { person } from "../../session.ts";
import { KeyNames, useKeyName } from "./key-names.ts";
import { type LogFilter, STATUSES, toLogs } from "./log-query.ts";

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

export const LogFilters = ({
  filter: { status, q = "", key_id },
}: {
  readonly filter: LogFilter;
}) => (
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
