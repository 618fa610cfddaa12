import type { Webhook } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { getClient } from "../../session.ts";
import { Part } from "./part.tsx";

const isFailing = ({ failing_since, disabled_because }: Webhook): boolean =>
  failing_since !== undefined || disabled_because === "failing" || disabled_because === "gone";

const toSentence = ({ disabled_because, failing_since }: Webhook): string => {
  if (disabled_because === "gone") return "Disabled: the address responded with 410.";
  if (disabled_because === "failing") return "Disabled: nothing was delivered for five days.";
  return failing_since ? `Deliveries have failed since ${formatTime(failing_since)}.` : "";
};

export const FailingWebhooks = () => {
  const load = useLoad((signal) => getClient().listWebhooks({ signal }));
  return (
    <Part
      id="webhooks"
      title="Webhooks"
      error={load.error}
      action={<a href={toHref("webhooks")}>All webhooks</a>}
    >
      <Loaded load={load} what="the webhooks">
        {({ webhooks }) => {
          const failing = webhooks.filter(isFailing);
          if (webhooks.length === 0)
            return <p class="soft">You have no webhooks. One tells you when a list ends.</p>;
          if (failing.length === 0) return <p class="soft">No webhooks are failing.</p>;
          return (
            <ul class="plain">
              {failing.map((webhook) => (
                <li key={webhook.id}>
                  <a href={toHref(`webhooks/${webhook.id}`)}>{webhook.url}</a>
                  <p class="bad">{toSentence(webhook)}</p>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Part>
  );
};
