export const StatusBadge = ({ status }: { readonly status: string }) => (
  <span class={`status is-${status}`}>{status}</span>
);
