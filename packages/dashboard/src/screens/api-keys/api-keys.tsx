import { useSignal } from "@preact/signals";
import { formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { Screen } from "../../parts/screen.tsx";
import { getClient } from "../../session.ts";
import { CreateKey } from "./create-key.tsx";
import { isOwnKey, type ListedKey } from "./listed-key.ts";
import { RevokeKey } from "./revoke-key.tsx";
import { Snippets } from "./snippets.tsx";
import "./api-keys.css";

export const ApiKeys = () => {
  const load = useLoad((signal) => getClient().listApiKeys({ signal }));
  const isCreating = useSignal(false);
  const revoked = useSignal<ListedKey | null>(null);
  return (
    <Screen
      title="API keys"
      lead="A program sends its key with each request. A key is shown once, when it is created."
      actions={
        <button type="button" class="primary" onClick={() => (isCreating.value = true)}>
          Create a key
        </button>
      }
    >
      <Loaded load={load} what="the API keys" as="rows">
        {({ api_keys: keys }) => <KeyTable keys={keys} onRevoke={(key) => (revoked.value = key)} />}
      </Loaded>
      <Snippets />
      <CreateKey
        isOpen={isCreating.value}
        onCreated={load.reload}
        onClose={() => (isCreating.value = false)}
      />
      <RevokeKey
        revoked={revoked.value}
        onRevoked={load.reload}
        onClose={() => (revoked.value = null)}
      />
    </Screen>
  );
};

type TableProps = {
  readonly keys: readonly ListedKey[];
  readonly onRevoke: (key: ListedKey) => void;
};

const KeyTable = ({ keys, onRevoke }: TableProps) => {
  const columns: readonly Column<ListedKey>[] = [
    { title: "Name", isHeader: true, cell: (key) => <KeyName shown={key} /> },
    { title: "Mode", cell: ({ mode }) => mode },
    {
      title: "Scopes",
      cell: ({ scopes }) =>
        scopes === null ? "unrestricted" : scopes.map((one) => <code key={one}>{one} </code>),
    },
    { title: "Created", cell: ({ created_at }) => formatTime(created_at) },
    {
      title: "Last used",
      cell: ({ last_used_at }) => (last_used_at === null ? "never" : formatTime(last_used_at)),
    },
    {
      title: "Action",
      cell: (key) => (
        <button type="button" class="quiet" onClick={() => onRevoke(key)}>
          Revoke <span class="unseen">{key.name}</span>
        </button>
      ),
    },
  ];
  return (
    <div class="scroll keys" tabIndex={0} role="region" aria-label="API keys">
      <RowTable label="API keys" columns={columns} rows={keys} getKey={({ key_id }) => key_id} />
    </div>
  );
};

const KeyName = ({ shown }: { readonly shown: ListedKey }) => {
  const { name, hint, expires_at, networks } = shown;
  return (
    <>
      {name}
      {isOwnKey(shown) && <span class="own">this session</span>}
      <br />
      <code>{hint}</code>
      {expires_at !== null && <small>Expires {formatTime(expires_at)}</small>}
      {networks !== null && <small>Only from {networks.join(", ")}</small>}
    </>
  );
};
