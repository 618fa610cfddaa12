export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#2f52d6" stroke-width="2.4"><path d="M3 6h18v12H3z"/><path d="m7.5 12 3 3 6-6"/></svg>`;
