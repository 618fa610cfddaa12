import { type Html, html, NOTHING } from "./html.ts";

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#2f52d6" stroke-width="2.4"><path d="M3 6h18v12H3z"/><path d="m7.5 12 3 3 6-6"/></svg>`;

type Head = {
  readonly title: string;
  readonly description: string;
  readonly path: string;
};

export const openHtml = ({ title, description, path }: Head, also: Html = NOTHING): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<link rel="stylesheet" href="${path}/docs/style.css">
${also}</head>
<body>
<a class="skip" href="#content">Skip to content</a>`;

export const LOGO = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path class="envelope" d="M3 5.5h18v13H3z"/><path class="tick" d="m7.5 12 3 3 6-6"/></svg>`;
