/** Safe markup for a page. Only `html` creates it. */
export type Html = { readonly markup: string };

type Part = Html | string | number | readonly Html[];

/** Builds markup from the template, and escapes interpolated values unless they are markup. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  markup: strings.reduce(
    (all, text, at) => all + written(parts[at - 1], all.endsWith('="')) + text,
  ),
});

const written = (part: Part | undefined, isAttribute: boolean): string => {
  if (part === undefined) return "";
  if (typeof part === "object")
    return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("");
  const text = String(part).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return isAttribute ? text.replaceAll('"', "&quot;") : text;
};

export const NOTHING: Html = html``;

/** Turns `words between backticks` into code, and **words between stars** into strong text. */
export const inline = (text: string): Html =>
  html`${text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`")) return html`<code>${breakable(part.slice(1, -1))}</code>`;
    if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
    return html`${part}`;
  })}`;

/** Lets a long name break across lines, but not within a word. */
const breakable = (name: string): readonly Html[] =>
  name.split(/(?<=\w[_.])/).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`));

/** A table with a head. On a narrow screen each row is a card, and each cell repeats its head. */
export const table = (head: readonly string[], rows: readonly (readonly Html[])[]): Html => html`
<div class="scroll"><table>
<thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, at) => html`<td data-head="${head[at] ?? ""}">${cell}</td> `)}</tr>`)}</tbody>
</table></div>`;

export const code = (text: string | number): Html => html`<code>${text}</code>`;

export const block = (text: string, language: string): Html =>
  html`<pre data-language="${language}"><code>${text}</code></pre>`;

export type Sample = { readonly language: string; readonly text: string };

/** Shows the same sample in several languages, of which one is visible at a time. */
export const inLanguages = (all: readonly Sample[]): Html => html`
<div class="languages">${all.map(
  ({ language, text }) => html`<figure class="language" data-language="${language}">
<figcaption>${language}</figcaption><pre><code>${text}</code></pre></figure>`,
)}</div>`;
