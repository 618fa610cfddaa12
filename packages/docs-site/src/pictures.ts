import { type Html, html } from "./html.ts";

// The picture is drawn for a narrow screen, so that the letters are readable; a wide screen shows it next to the text. Colours are classes,
// since light and dark differ.

const WIDTH = 360;

/** The questions follow the order of the decision: the first question with a yes gives the status. */
export const DECISION: readonly (readonly [question: string, status: string])[] = [
  ["Control of it is proven?", "valid"],
  ["Not written as an address?", "invalid"],
  ["No domain, or none with mail?", "invalid"],
  ["A known trap?", "spam_trap"],
  ["A throw-away domain?", "disposable"],
  ["Unknown to the mail host?", "invalid"],
  ["A known typo of a provider?", "risky"],
  ["A role, such as info@?", "role"],
  ["Accepts it, bounces it later?", "risky"],
  ["Accepts every address?", "catch_all"],
  ["Full, or not quite proven?", "risky"],
  ["Accepted, random ones refused?", "valid"],
  ["Nothing could be proven", "unknown"],
];

const ROW = 46;

export const decision = (): Html => html`
<figure class="picture"><svg viewBox="0 0 ${WIDTH} ${DECISION.length * ROW + 12}" role="img" aria-labelledby="decision-title">
<title id="decision-title">How a status is decided: ${DECISION.map(([question, status]) => `${question} ${status}.`).join(" ")}</title>
${DECISION.map(([question, status], row) => {
  const y = row * ROW + 8;
  const isLast = row === DECISION.length - 1;
  return html`<rect class="box" x="2" y="${y}" width="246" height="32" rx="7"/>
<text class="ask" x="12" y="${y + 21}">${question}</text>
<path class="arrow" d="M248 ${y + 16}H264"/><path class="head" d="M262 ${y + 12}l6 4l-6 4z"/>
<rect class="pill is-${status}" x="270" y="${y + 3}" width="88" height="26" rx="13"/>
<text class="pill-text" x="314" y="${y + 21}" text-anchor="middle">${status}</text>
${isLast ? html`` : html`<path class="arrow" d="M30 ${y + 32}V${y + ROW - 4}"/><path class="head" d="M26 ${y + ROW - 6}l4 6l4 -6z"/>`}`;
})}
</svg><figcaption>The first question that is answered with yes decides.</figcaption></figure>`;

type Step = {
  readonly to: "right" | "left";
  readonly text: string;
  readonly also?: string;
  readonly kind?: "lost" | "refused" | "replayed";
};

const STEPS: readonly Step[] = [
  { to: "right", text: "verify ann@…, key A" },
  { to: "left", text: "✕ the response is lost", kind: "lost", also: "charged once, key A claimed" },
  { to: "right", text: "verify ann@…, key A" },
  { to: "left", text: "the same response", kind: "replayed", also: "credits_used: 0" },
  { to: "right", text: "verify bo@…, key A" },
  { to: "left", text: "409 conflict", kind: "refused", also: "nothing charged" },
  { to: "right", text: "verify bo@…, key B" },
  { to: "left", text: "200, a new response", also: "charged" },
];

const [YOU, US] = [44, 316];
const STEP = 44;

export const repeats = (): Html => html`
<figure class="picture"><svg viewBox="0 0 ${WIDTH} ${STEPS.length * STEP + 58}" role="img" aria-labelledby="repeats-title">
<title id="repeats-title">A request whose response is lost is repeated with the same key: it is charged once.</title>
<rect class="box" x="4" y="4" width="80" height="28" rx="7"/><text class="ask" x="${YOU}" y="23" text-anchor="middle">You</text>
<rect class="box" x="276" y="4" width="80" height="28" rx="7"/><text class="ask" x="${US}" y="23" text-anchor="middle">Mailproof</text>
<path class="line" d="M${YOU} 32V${STEPS.length * STEP + 52}M${US} 32V${STEPS.length * STEP + 52}"/>
${STEPS.map(({ to, text, also, kind = "sent" }, at) => {
  const y = at * STEP + 62;
  const isLost = kind === "lost";
  const way = to === "right" ? `M${YOU} ${y}H${US - 6}` : `M${US} ${y}H${isLost ? 150 : YOU + 6}`;
  const head = to === "right" ? `M${US - 8} ${y - 4}l7 4l-7 4z` : `M${YOU + 8} ${y - 4}l-7 4l7 4z`;
  return html`<path class="arrow is-${kind}" d="${way}"/>
${isLost ? html`` : html`<path class="head is-${kind}" d="${head}"/>`}
<text class="text" x="180" y="${y - 6}" text-anchor="middle">${text}</text>
${also === undefined ? html`` : html`<text class="also" x="180" y="${y + 14}" text-anchor="middle">${also}</text>`}`;
})}
</svg><figcaption>Charge and claim of the key commit together, so there is no moment between them.</figcaption></figure>`;
