import type { CheckSummary, Webhook } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { type Load, Loaded, useLoad } from "../../parts/load.tsx";
import { getClient } from "../../session.ts";
import { Part } from "./part.tsx";

type Decision = {
  readonly title: string;
  readonly text: string;
  readonly tone: string;
  readonly path: string;
  readonly link: string;
};

const POOR_GRADES: readonly string[] = ["D", "F"];

/** The last sentence about a webhook that fails. Undefined when the webhook works. */
const toFault = ({ disabled_because, failing_since }: Webhook): string | undefined => {
  if (disabled_because === "gone") return "It is disabled: the address responded with 410.";
  if (disabled_because === "failing") return "It is disabled: nothing was delivered for five days.";
  return failing_since && `Deliveries have failed since ${formatTime(failing_since)}.`;
};

const fromWebhook = (webhook: Webhook): readonly Decision[] => {
  const fault = toFault(webhook);
  if (fault === undefined) return [];
  const path = `webhooks/${webhook.id}`;
  const text = `${fault} ${webhook.url}`;
  return [{ title: "A webhook fails", text, tone: "is-invalid", path, link: "See the deliveries" }];
};

const fromCheck = ({ domain, domain_unicode: name, grade, score }: CheckSummary): Decision[] =>
  POOR_GRADES.includes(grade)
    ? [
        {
          title: `${name} has the grade ${grade}`,
          text: `${score} of 100 points. The report orders the fixes by their points.`,
          tone: "is-risky",
          path: `domains/${encodeURIComponent(domain)}`,
          link: "See the fixes",
        },
      ]
    : [];

const DecisionList = ({ decisions }: { readonly decisions: readonly Decision[] }) =>
  decisions.length === 0 ? (
    <p class="soft">Your webhooks deliver, and no domain has a poor grade.</p>
  ) : (
    <ul class="plain decisions">
      {decisions.map(({ title, text, tone, path, link }) => (
        <li key={path}>
          <span class={`mark ${tone}`} aria-hidden="true" />
          <div>
            <h3>{title}</h3>
            <p class="soft">{text}</p>
            <a class="button" href={toHref(path)}>
              {link}
            </a>
          </div>
        </li>
      ))}
    </ul>
  );

/** The decisions for a person: failing webhooks, and domains with a poor grade. */
export const DecisionsPanel = ({
  domains,
}: {
  readonly domains: Load<readonly CheckSummary[]>;
}) => {
  const webhooks = useLoad((signal) => getClient().listWebhooks({ signal }));
  return (
    <Part id="decisions" title="Needs a decision" error={webhooks.error}>
      <Loaded load={webhooks} what="the webhooks">
        {({ webhooks: all }) => (
          <DecisionList
            decisions={[...all.flatMap(fromWebhook), ...(domains.data ?? []).flatMap(fromCheck)]}
          />
        )}
      </Loaded>
    </Part>
  );
};
