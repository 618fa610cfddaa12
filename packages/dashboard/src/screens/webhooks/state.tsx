import type { Webhook } from "@mailproof/client";
import { formatTime } from "../../format.ts";

const DISABLED: Readonly<Record<NonNullable<Webhook["disabled_because"]>, string>> = {
  asked: "Disabled. Events are not sent.",
  failing: "Disabled: nothing was delivered for five days.",
  gone: "Disabled: the address responded with 410.",
};

export const WebhookState = ({ webhook }: { readonly webhook: Webhook }) => {
  const { status, disabled_because, failing_since } = webhook;
  if (status === "disabled") return <p class="bad">{DISABLED[disabled_because ?? "asked"]}</p>;
  if (failing_since !== undefined)
    return <p class="bad">Deliveries have failed since {formatTime(failing_since)}.</p>;
  return <p class="good">Active</p>;
};
