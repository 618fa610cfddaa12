import { useSignal } from "@preact/signals";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { getClient, signOut } from "../../session.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyTable } from "./key-table.tsx";
import { isOwnKey, type ListedKey } from "./listed-key.ts";
import { Snippets } from "./snippets.tsx";
import { useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";

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

type RevokeProps = {
  readonly revoked: ListedKey | null;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
};

const RevokeKey = ({ revoked, ...others }: RevokeProps) => (
  <Dialog
    title={`Revoke ${revoked?.name ?? ""}?`}
    isOpen={revoked !== null}
    onClose={others.onClose}
  >
    {revoked && <Question revoked={revoked} {...others} />}
  </Dialog>
);

const Question = ({ revoked, onRevoked, onClose }: RevokeProps & { readonly revoked: ListedKey }) => {
  const isOwn = isOwnKey(revoked);
  const revoke = useAction(async () => {
    await getClient().revokeApiKey({ id: revoked.key_id });
    if (isOwn) return signOut("You revoked the key that you were signed in with.");
    onRevoked();
    onClose();
  });
  return (
    <>
      <p>
        <code>{revoked.hint}</code> stops working immediately and permanently.
        {isOwn && " You are signed in with this key, so revoking it signs you out."}
      </p>
      <Answers
        action={revoke}
        yes="Revoke the key"
        busy="Revoking the key …"
        class="danger"
        onClose={onClose}
      />
    </>
  );
};
