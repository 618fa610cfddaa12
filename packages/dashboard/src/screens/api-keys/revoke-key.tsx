import { useSignal } from "@preact/signals";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { getClient, signOut } from "../../session.ts";
import { isOwnKey, type ListedKey } from "./listed-key.ts";

type Props = {
  readonly revoked: ListedKey | null;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
};

export const RevokeKey = ({ revoked, ...others }: Props) => (
  <Dialog
    title={`Revoke ${revoked?.name ?? ""}?`}
    isOpen={revoked !== null}
    onClose={others.onClose}
  >
    {revoked && <Question revoked={revoked} {...others} />}
  </Dialog>
);

const Question = ({ revoked, onRevoked, onClose }: Props & { readonly revoked: ListedKey }) => {
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const isOwn = isOwnKey(revoked);
  const revoke = async () => {
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = null;
    try {
      await getClient().revokeApiKey({ id: revoked.key_id });
      if (isOwn) return signOut("You revoked the key that you were signed in with.");
      onRevoked();
      onClose();
    } catch (thrown) {
      error.value = thrown;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <p>
        <code>{revoked.hint}</code> stops working immediately and permanently.
        {isOwn && " You are signed in with this key, so revoking it signs you out."}
      </p>
      {error.value !== null && <ErrorPanel error={error.value} />}
      <p class="actions">
        <button
          type="button"
          class="danger"
          aria-disabled={isBusy.value}
          onClick={() => void revoke()}
        >
          {isBusy.value ? "Revoking the key …" : "Revoke the key"}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </>
  );
};
