import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";

type Props = {
  readonly webhook: { readonly url: string; readonly secret: string } | null;
  readonly onClose: () => void;
};

/** Only this dialog shows the secret, and no state that outlives the dialog holds it. */
export const SecretDialog = ({ webhook, onClose }: Props) => (
  <Dialog title="The signing secret" isOpen={webhook !== null} onClose={onClose}>
    <p>
      Events to {webhook?.url} are signed with this secret. It is shown once: store it where your
      receiver reads it, and check the signature of every event.
    </p>
    <p class="secret">
      <code>{webhook?.secret}</code> <CopyButton text={webhook?.secret ?? ""} />
    </p>
    <button type="button" class="primary" onClick={onClose}>
      I have stored it
    </button>
  </Dialog>
);
