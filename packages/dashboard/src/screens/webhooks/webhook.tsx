import type { RotateWebhookSecretData, Webhook as WebhookData } from "@mailproof/client";
import { useState } from "preact/hooks";
import { toHref } from "../../base.ts";
import { type Action, useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { navigate, type Params } from "../../router.ts";
import { getClient, may } from "../../session.ts";
import { Deliveries } from "./deliveries.tsx";
import { EventChoice, type EventName } from "./events.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { WebhookState } from "./state.tsx";
import "./webhooks.css";

const findWebhook = async (id: string, signal: AbortSignal): Promise<WebhookData | null> => {
  const { webhooks } = await getClient().listWebhooks({ signal });
  return webhooks.find((one) => one.id === id) ?? null;
};

export const Webhook = ({ params: { id = "" } }: { readonly params: Params }) => {
  const webhook = useLoad((signal) => findWebhook(id, signal), [id]);
  return (
    <Screen title="Webhook" lead={<a href={toHref("webhooks")}>All webhooks</a>}>
      <Loaded load={webhook} what="the webhook">
        {(data) =>
          data === null ? (
            <p>The account has no webhook with this id. It may have been deleted.</p>
          ) : (
            <>
              <Settings key={data.id} webhook={data} onChanged={webhook.reload} />
              <Deliveries webhook={data} onSent={webhook.reload} />
            </>
          )
        }
      </Loaded>
    </Screen>
  );
};

type SettingsProps = { readonly webhook: WebhookData; readonly onChanged: () => void };

const Settings = ({ webhook, onChanged }: SettingsProps) => {
  const { id, url, status } = webhook;
  const mayChange = may("webhooks:write");
  const [asking, setAsking] = useState<"rotate" | "delete" | null>(null);
  const [rotated, setRotated] = useState<RotateWebhookSecretData | null>(null);
  const toggle = useAction(async () => {
    await getClient().updateWebhook({ id, status: status === "active" ? "disabled" : "active" });
    onChanged();
  });
  const rotate = useAction(async () => {
    const data = await getClient().rotateWebhookSecret({ id });
    setAsking(null);
    setRotated(data);
  });
  const remove = useAction(async () => {
    await getClient().deleteWebhook({ id });
    setAsking(null);
    navigate("webhooks", { replace: true });
  });
  return (
    <section class="panel main" aria-labelledby="webhook">
      <h2 id="webhook">{url}</h2>
      <WebhookState webhook={webhook} />
      {mayChange && <Events webhook={webhook} onChanged={onChanged} />}
      {toggle.error !== undefined && (
        <ErrorPanel error={toggle.error} onRetry={() => void toggle.run()} />
      )}
      {mayChange && (
        <div class="actions">
          <button type="button" aria-disabled={toggle.isRunning} onClick={() => void toggle.run()}>
            {status === "active" ? "Disable" : "Enable"}
          </button>
          <button type="button" onClick={() => setAsking("rotate")}>
            Replace the secret
          </button>
          <button type="button" onClick={() => setAsking("delete")}>
            Delete
          </button>
        </div>
      )}
      <Question
        title="Replace the signing secret?"
        text="The current secret stops working immediately. Until your receiver has the new one, it will reject our events."
        yes="Replace it"
        isOpen={asking === "rotate"}
        action={rotate}
        onClose={() => setAsking(null)}
      />
      <Question
        title="Delete the webhook?"
        text={`No more events are sent to ${url}, and pending deliveries are dropped.`}
        yes="Delete it"
        isOpen={asking === "delete"}
        action={remove}
        onClose={() => setAsking(null)}
      />
      <SecretDialog webhook={rotated} onClose={() => setRotated(null)} />
    </section>
  );
};

const Events = ({ webhook: { id, events }, onChanged }: SettingsProps) => {
  const [chosen, setChosen] = useState<readonly EventName[]>(events);
  const save = useAction(async () => {
    await getClient().updateWebhook({ id, events: [...chosen] });
    onChanged();
  });
  const isChanged = chosen.join() !== events.join();
  return (
    <details>
      <summary>{events.join(", ")}</summary>
      <EventChoice chosen={chosen} onChange={setChosen} />
      {save.error !== undefined && <ErrorPanel error={save.error} />}
      {isChanged && (
        <button type="button" aria-disabled={save.isRunning} onClick={() => void save.run()}>
          Save the events
        </button>
      )}
    </details>
  );
};

type QuestionProps = {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly isOpen: boolean;
  readonly action: Action<[]>;
  readonly onClose: () => void;
};

const Question = ({ title, text, yes, isOpen, action, onClose }: QuestionProps) => (
  <Dialog title={title} isOpen={isOpen} onClose={onClose}>
    <p>{text}</p>
    <Answers action={action} yes={yes} onClose={onClose} />
  </Dialog>
);
