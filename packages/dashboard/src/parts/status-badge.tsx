/** Status of an address in the colours of the manual; the text says it, too. */
export const StatusBadge = ({ status }: { readonly status: string }) => (
  <span class={`status is-${status}`}>{status}</span>
);
