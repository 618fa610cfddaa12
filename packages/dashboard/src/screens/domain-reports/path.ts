type Window = {
  readonly domain: string;
  readonly days?: string;
  /** The last day. By default today. */
  readonly to?: string | undefined;
  readonly offset?: string;
};

/** Returns the path of the screen that shows a domain's reports of these days. */
export const toReports = ({ domain, ...fields }: Window): string => {
  const values = Object.entries(fields).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(values as [string, string][]);
  return `domains/${encodeURIComponent(domain)}/reports${query.size > 0 ? `?${query}` : ""}`;
};
