/** The status of an address in the manual's colours, and as text. */
export const StatusBadge = ({ status }: { readonly status: string }) => (
  <span class={`status is-${status}`}>{status}</span>
);
