import { MailproofError } from "@mailproof/client";
import { createRandomId } from "@mailproof/client/random-id";
import { useRef, useState } from "preact/hooks";
import { formatCount } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { usePrices } from "../../parts/price.ts";
import { navigate } from "../../router.ts";
import { account, getClient, isTestKey, may, refreshAccount } from "../../session.ts";

const NotConfigured = () => (
  <p class="notice">
    The operator of this server must set <code>MAIL_DOMAIN</code>, publish an MX record of that
    domain that names this server, and route port 25 to <code>MAIL_PORT</code>. With a test key the
    mail is simulated, so a report needs none of it.
  </p>
);

/** Creates a mail test and opens it. It costs credits, so the button asks first. */
export const NewTestButton = () => {
  const [isOpen, setOpen] = useState(false);
  // All requests of one intention share a key: a second click and a retry are charged once.
  const intention = useRef<string>(undefined);
  const { mail_test: price } = usePrices();
  const { isRunning, error, run } = useAction(async () => {
    intention.current ??= createRandomId();
    const created = await getClient().createMailTest({ idempotencyKey: intention.current });
    intention.current = undefined;
    setOpen(false);
    void refreshAccount();
    navigate(`mail-tests/${created.test_id}`);
  });
  const cost = isTestKey.value ? "free" : price === undefined ? "…" : formatCount(price, "credit");
  const available = account.value?.credits.available;
  if (!may("deliverability:write")) return null;
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        New mail test, {cost}
      </button>
      <Dialog title="Create a mail test?" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>
          {isTestKey.value
            ? "With a test key it is free: a simulated mail arrives automatically."
            : `It costs ${cost}, refunded if no mail arrives within the hour.`}{" "}
          {available !== undefined &&
            !isTestKey.value &&
            `You have ${formatCount(available, "credit")}.`}
        </p>
        {error !== undefined && <ErrorPanel error={error} />}
        {error instanceof MailproofError && error.code === "NOT_CONFIGURED" && <NotConfigured />}
        <div class="actions">
          <button
            type="button"
            class="primary"
            aria-disabled={isRunning}
            onClick={() => void run()}
          >
            {error === undefined ? `Create, ${cost}` : "Retry"}
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            Cancel
          </button>
        </div>
        <p role="status">{isRunning && "Creating the address …"}</p>
      </Dialog>
    </>
  );
};
