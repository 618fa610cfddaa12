import { toHref } from "../../base.ts";
import { path } from "../../router.ts";

const TABS = [
  ["", "Check"],
  ["/mail-tests", "Mail tests"],
  ["/reports", "Reports"],
  ["/progress", "Progress"],
] as const;

export const DomainTabs = ({ domain }: { readonly domain: string }) => {
  const start = `domains/${encodeURIComponent(domain)}`;
  return (
    <>
      <p class="back">
        <a href={toHref("domains")}>All domains</a>
      </p>
      <nav class="tabs" aria-label={`About ${domain}`}>
        {TABS.map(([end, title]) => (
          <a
            key={title}
            href={toHref(start + end)}
            aria-current={path.value === start + end ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
    </>
  );
};
