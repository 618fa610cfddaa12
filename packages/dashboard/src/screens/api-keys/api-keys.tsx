import { useSignal } from "@preact/signals";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { getClient } from "../../session.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyTable } from "./key-table.tsx";
import type { ListedKey } from "./listed-key.ts";
import { RevokeKey } from "./revoke-key.tsx";
import { Snippets } from "./snippets.tsx";

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
        {({ api_keys: keys }) => (
          <KeyTable
            keys={keys}
            action={(key) => (
              <button type="button" class="quiet" onClick={() => (revoked.value = key)}>
                Revoke <span class="unseen">{key.name}</span>
              </button>
            )}
          />
        )}
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
