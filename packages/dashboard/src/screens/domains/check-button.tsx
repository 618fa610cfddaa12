import { createRandomId } from "@mailproof/client/random-id";
import { type Signal, useSignal } from "@preact/signals";
import { formatCount } from "../../format.ts";
import { handleSubmit } from "../../parts/action.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { usePrices } from "../../parts/price.ts";
import { account, getClient, isTestKey, may, refreshAccount } from "../../session.ts";

type Run =
  | { readonly kind: "none" }
  /** All requests of one intention share a key: a retry is charged once. */
  | { readonly kind: "checking"; readonly key: string }
  | { readonly kind: "failed"; readonly key: string; readonly error: unknown };

type Props = {
  readonly domain: string;
  readonly sendingIp?: string | null;
  readonly label: string;
  readonly onChecked: () => void;
};

/** Runs a new check. It costs credits, so the button asks first. */
export const CheckButton = ({ domain, sendingIp, label, onChecked }: Props) => {
  const isOpen = useSignal(false);
  const ip = useSignal(sendingIp ?? "");
  const run = useSignal<Run>({ kind: "none" });
  const { deliverability_check: price } = usePrices();
  const cost = isTestKey.value ? "free" : price === undefined ? "…" : formatCount(price, "credit");
  const open = () => {
    // A failed check is retried with the same key and address.
    if (run.value.kind === "none") ip.value = sendingIp ?? "";
    isOpen.value = true;
  };
  const close = () => (isOpen.value = false);
  const check = (key: string) => {
    run.value = { kind: "checking", key };
    const input = {
      domain,
      refresh: true,
      ...(ip.value.trim() !== "" && { sending_ip: ip.value.trim() }),
    };
    getClient()
      .checkDomain(input, { idempotencyKey: key })
      .then(
        () => {
          run.value = { kind: "none" };
          close();
          onChecked();
          void refreshAccount();
        },
        (error: unknown) => {
          run.value = { kind: "failed", key, error };
          isOpen.value = true;
        },
      );
  };
  const start = () => {
    const now = run.value;
    if (now.kind !== "checking") check(now.kind === "failed" ? now.key : createRandomId());
  };
  const available = account.value?.credits.available;
  if (!may("deliverability:write")) return null;
  return (
    <>
      <button type="button" class="primary" onClick={open}>
        {label}, {cost}
      </button>
      <Dialog title={`Check ${domain}?`} isOpen={isOpen.value} onClose={close}>
        <p>
          {isTestKey.value
            ? "With a test key the check is simulated and free."
            : `A new check costs ${cost}.`}{" "}
          {available !== undefined &&
            !isTestKey.value &&
            `You have ${formatCount(available, "credit")}.`}
        </p>
        <CheckForm ip={ip} run={run} cost={cost} onStart={start} onClose={close} />
        <p role="status">
          {run.value.kind === "checking" && `Querying the name servers of ${domain} …`}
        </p>
      </Dialog>
    </>
  );
};

type FormProps = {
  readonly ip: Signal<string>;
  readonly run: Signal<Run>;
  readonly cost: string;
  readonly onStart: () => void;
  readonly onClose: () => void;
};

const CheckForm = ({ ip, run, cost, onStart, onClose }: FormProps) => {
  const now = run.value;
  return (
    <form noValidate onSubmit={handleSubmit(onStart)}>
      <label for="sending-ip">IP address that you send from, if you know it</label>
      <input
        id="sending-ip"
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder="192.0.2.25"
        aria-describedby="sending-ip-use"
        readOnly={now.kind === "checking"}
        value={ip.value}
        onInput={({ currentTarget }) => {
          ip.value = currentTarget.value;
          // Another address makes another request, and so another intention.
          run.value = { kind: "none" };
        }}
      />
      <p id="sending-ip-use" class="soft">
        Adds checks of its reverse DNS and of whether SPF allows it.
      </p>
      {now.kind === "failed" && <ErrorPanel error={now.error} />}
      <div class="actions">
        <button type="submit" class="primary" aria-disabled={now.kind === "checking"}>
          {now.kind === "failed" ? "Retry" : `Check, ${cost}`}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
};
