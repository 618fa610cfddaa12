import type { ComponentChildren } from "preact";
import { formatNumber, formatTime } from "../../format.ts";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { isOwnKey, type ListedKey } from "./listed-key.ts";
import "./api-keys.css";

type Props = {
  readonly keys: readonly ListedKey[];
  readonly action: (key: ListedKey) => ComponentChildren;
};

export const KeyTable = ({ keys, action }: Props) => {
  const columns: readonly Column<ListedKey>[] = [
    { title: "Name", isHeader: true, cell: (key) => <KeyName shown={key} /> },
    { title: "Mode", cell: ({ mode }) => mode },
    {
      title: "Scopes",
      cell: ({ scopes, public: isPublic }) => {
        if (isPublic) return "public, for forms";
        return scopes === null
          ? "unrestricted"
          : scopes.map((one) => <code key={one}>{one} </code>);
      },
    },
    { title: "Created", cell: ({ created_at }) => formatTime(created_at) },
    {
      title: "Last used",
      cell: ({ last_used_at }) => (last_used_at === null ? "never" : formatTime(last_used_at)),
    },
    { title: "Action", cell: action },
  ];
  return (
    <div class="scroll keys" tabIndex={0} role="region" aria-label="Table of keys">
      <RowTable label="API keys" columns={columns} rows={keys} getKey={({ key_id }) => key_id} />
    </div>
  );
};

const KeyName = ({ shown }: { readonly shown: ListedKey }) => {
  const { name, hint, expires_at, networks, public: use } = shown;
  return (
    <>
      {name}
      {isOwnKey(shown) && <span class="own">this session</span>}
      <br />
      <code>{hint}</code>
      {expires_at !== null && <small>Expires {formatTime(expires_at)}</small>}
      {networks !== null && <small>Only from {networks.join(", ")}</small>}
      {use !== null && (
        <small>
          Only in pages of {use.origins.join(", ")}, {formatNumber(use.daily_limit)} a day
        </small>
      )}
    </>
  );
};
