import type { Health } from "@mailproof/api/endpoints/get-health";
import { LOGO, openHtml } from "./head.ts";
import { type Html, html, table } from "./html.ts";

// Shows /health in words for the service's customers, without additional facts.

type State = "works" | "limited" | "down" | "not known";
type Part = { readonly name: string; readonly state: State; readonly means: string };

const COLOURS: Readonly<Record<State, string>> = {
  works: "valid",
  limited: "risky",
  down: "invalid",
  "not known": "unknown",
};

/** With such a reach every request gets a response, but most results are unknown. */
const SHORT_REACHES: readonly Health["reach"]["state"][] = ["dns_only", "lab"];

const describeVerification = ({ checks, reach }: Health): Part => {
  const name = "Verification";
  if (checks.table === "failed")
    return { name, state: "down", means: "Requests are refused until the database answers." };
  if (checks.disk === "full")
    return { name, state: "down", means: "Requests are refused until the disk has space." };
  if (checks.dns === "failed") {
    const means =
      "No name server has answered for a minute. Until one does, most results are unknown.";
    return { name, state: "limited", means };
  }
  if (SHORT_REACHES.includes(reach.state))
    return {
      name,
      state: "limited",
      means: "Requests are answered, but most results are unknown.",
    };
  return { name, state: "works", means: "Addresses and domains are verified." };
};

const describeLists = ({ checks }: Health): Part => {
  const name = "Lists";
  if ([checks.table, checks.queue, checks.blobs].includes("failed"))
    return { name, state: "down", means: "New lists are refused, and those under way wait." };
  if (checks.queue === "dead_letters_waiting") {
    const means = "Some work failed too often and waits for the operator. Everything else goes on.";
    return { name, state: "limited", means };
  }
  if (checks.disk === "low" || checks.disk === "full")
    return { name, state: "limited", means: "Uploads are refused until the disk has space." };
  return { name, state: "works", means: "Lists are accepted, verified and returned." };
};

const describeWebhooks = ({ checks }: Health): Part => {
  const name = "Webhooks";
  if ([checks.table, checks.queue].includes("failed"))
    return { name, state: "down", means: "Events wait, and are delivered later." };
  if (checks.dns === "failed")
    return { name, state: "limited", means: "Calls that fail without names are made again later." };
  if (checks.queue === "dead_letters_waiting")
    return { name, state: "limited", means: "Some events may be delivered late." };
  return { name, state: "works", means: "Events are delivered as they happen." };
};

const describeMailServers = ({ checks, reach }: Health): Part => {
  const name = "Mail servers";
  const since = reach.measured_at === null ? "" : ` Measured at ${formatTime(reach.measured_at)}.`;
  const means = `${reach.message}${since}`;
  // A provider's refusal is known even when no test has measured the reach.
  if (checks.mail_providers === "blocked" && reach.refused_by.length === 0) {
    const refused = "A large mail provider refuses this server now.";
    return { name, state: "limited", means: `${refused} ${means}` };
  }
  if (reach.state === "not_measured") return { name, state: "not known", means };
  return { name, state: reach.state === "open" ? "works" : "limited", means };
};

const PARTS = [describeVerification, describeLists, describeWebhooks, describeMailServers];

const summarize = (parts: readonly Part[]): string => {
  const has = (wanted: State) => parts.some(({ state }) => state === wanted);
  if (has("down")) return "Some of Mailproof does not work now";
  return has("limited") ? "Mailproof works, with limits" : "Mailproof works";
};

const formatTime = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

const formatState = (state: State): Html =>
  html`<span class="status is-${COLOURS[state]}">${state}</span>`;

export const statusPage = (health: Health, path: string): string => {
  const parts = PARTS.map((describe) => describe(health));
  const title = summarize(parts);
  const description = "What works of this service now.";
  return html`${openHtml({ title, description, path })}
<header class="bar"><a class="brand" href="${path}/docs">${LOGO}Mailproof</a></header>
<main id="content">
<h1>${title}</h1>
<p class="tagline">As of <time datetime="${health.timestamp}">${formatTime(health.timestamp)}</time>.</p>
<div class="narrow">${table(
    ["Part", "State", "What it means"],
    parts.map(({ name, state, means }) => [
      html`<b>${name}</b>`,
      formatState(state),
      html`${means}`,
    ]),
  )}</div>
<p>Programs read <a href="${path}/health">/health</a>, which is 503 while a part of the server itself is down.</p>
</main>
</body>
</html>
`.markup;
};
