import { programEndpoints } from "@mailproof/api/endpoints";
import { ADDITIONS } from "@mailproof/api/openapi/additions";
import type { Guide } from "./guide.ts";
import { type Html, html, inline } from "./html.ts";

export const additions: Guide = {
  id: "beyond-the-contract",
  title: "Beyond the contract",
  summary: "What this service has more than its contract, and why.",
  write: () => html`
<p class="lead">The contract has ${programEndpoints.filter((one) => one.addition === undefined).length} operations. What this service adds changes no sentence of it, so a client that was written from the contract needs none of this.</p>
<h3>Operations</h3>
<ul>${programEndpoints.map(({ id, route, addition }) =>
    addition === undefined
      ? html``
      : html`<li><a href="#${id}">${route}</a> ${inline(addition)}</li>`,
  )}</ul>
<h3>In the contract's operations, and beside them</h3>
<ul>${ADDITIONS.map(({ what, why }) => html`<li>${inline(what)}. ${inline(why)}</li>`)}</ul>`,
};

/** Marks operations beyond the contract in a list. */
export const mark = (isAddition: boolean): Html =>
  isAddition ? html` <b class="more" title="Beyond the contract">+</b>` : html``;
