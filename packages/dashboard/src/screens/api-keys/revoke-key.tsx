import { useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";
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
