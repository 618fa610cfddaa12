import type { CreateWebhookData, Webhook } from "@mailproof/client";
import { useState } from "preact/hooks";
import { toHref } from "../../base.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { getClient, may } from "../../session.ts";
import { EventChoice, type EventName } from "./events.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { WebhookState } from "./state.tsx";
import "./webhooks.css";

export const Webhooks = () => {
  const list = useLoad((signal) => getClient().listWebhooks({ signal }));
  const [created, setCreated] = useState<CreateWebhookData | null>(null);
  return (
    <Screen
      title="Webhooks"
      lead="Events are sent to your own HTTPS address, signed with each webhook's own secret."
    >
      <Loaded load={list} what="the webhooks" as="rows">
        {({ webhooks }) => <List webhooks={webhooks} />}
      </Loaded>
      {may("webhooks:write") && (
        <NewWebhook
          onCreated={(webhook) => {
            setCreated(webhook);
            list.reload();
          }}
        />
      )}
      <SecretDialog webhook={created} onClose={() => setCreated(null)} />
    </Screen>
  );
};

const List = ({ webhooks }: { readonly webhooks: readonly Webhook[] }) =>
  webhooks.length === 0 ? (
    <Empty shape="rows">There are no webhooks yet.</Empty>
  ) : (
    <ul class="plain webhooks">
      {webhooks.map((webhook) => (
        <li key={webhook.id} class="panel">
          <h2>
            <a href={toHref(`webhooks/${webhook.id}`)}>{webhook.url}</a>
          </h2>
          <p class="soft">{webhook.events.join(", ")}</p>
          <WebhookState webhook={webhook} />
        </li>
      ))}
    </ul>
  );

const NewWebhook = ({ onCreated }: { readonly onCreated: (data: CreateWebhookData) => void }) => {
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<readonly EventName[]>([]);
  const { isRunning, error, run } = useAction(async () => {
    onCreated(await getClient().createWebhook({ url: url.trim(), events: [...events] }));
    setUrl("");
    setEvents([]);
  });
  return (
    <section class="panel new-webhook" aria-labelledby="new-webhook">
      <h2 id="new-webhook">New webhook</h2>
      <form noValidate onSubmit={handleSubmit(run)}>
        <label for="webhook-url">Address</label>
        <input
          id="webhook-url"
          type="url"
          autocomplete="off"
          placeholder="https://example.com/mailproof"
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <EventChoice chosen={events} onChange={setEvents} />
        {error !== undefined && <ErrorPanel error={error} />}
        <button type="submit" class="primary" aria-disabled={isRunning}>
          {isRunning ? "Creating the webhook …" : "Create webhook"}
        </button>
      </form>
    </section>
  );
};
