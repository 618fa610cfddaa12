const ICONS = {
  overview: "M4 5h7v6H4zM13 5h7v10h-7zM4 13h7v6H4zM13 17h7v2h-7z",
  verify: "M3 6h18v12H3zM7.5 12l3 3 6-6",
  lists: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  newList: "M12 4v11M7 9l5-5 5 5M4 20h16",
  forms: "M5 4h14v16H5zM8.5 8h7M8.5 12h7M8.5 16h3",
  find: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M20 20l-4.6-4.6",
  domain:
    "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c5 5.5 5 12.5 0 18M12 3c-5 5.5-5 12.5 0 18",
  mailTests: "M3 6h18v12H3zM3 7l9 6 9-6",
  reports: "M6 3h9l4 4v14H6zM9.5 11h6M9.5 15.5h6",
  monitors: "M3 12h4l3-7 4 14 3-7h4",
  usage: "M4 20V10M10 20V4M16 20v-8M22 20H2",
  webhooks: "M4 12h10M10 7l5 5-5 5M15 4h5v16h-5",
  keys: "M15 4a5 5 0 1 0 0 10 5 5 0 0 0 0-10M11.5 12.5 4 20v-3.5h3v-3",
  logs: "M4 5h16v14H4zM7.5 9l2.5 2.5L7.5 14M12.5 15H17",
  operator: "M12 3l8 3v6c0 4.5-3.3 7.7-8 9-4.7-1.3-8-4.5-8-9V6z",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  down: "M6 9l6 6 6-6",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  filter: "M4 6h16M7 12h10M10 18h4",
  people: "M9 5a3 3 0 1 0 0 7 3 3 0 0 0 0-7M2 20c1-7 13-7 14 0M16 5a3 3 0 0 1 0 7M18 15q3 1 4 5",
  account: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 20c.8-4 3.8-6 7.5-6s6.7 2 7.5 6",
} as const;

export type IconName = keyof typeof ICONS;

/** An icon always stands next to a word, so it needs no accessible name. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={ICONS[name]} />
  </svg>
);

export const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="envelope" d="M3 5.5h18v13H3z" />
    <path class="tick" d="m7.5 12 3 3 6-6" />
  </svg>
);
