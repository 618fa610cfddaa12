import { formatNumber } from "../../format.ts";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import type { MessageReport } from "./mail-test.ts";

type Host = MessageReport["content"]["link_hosts"][number];

export const Links = ({ report: { content, reputation } }: { readonly report: MessageReport }) => {
  if (content.link_hosts.length === 0) return null;
  const listed = new Map(reputation.listed_on.map((one) => [one.listed, one.name]));
  const columns: readonly Column<Host>[] = [
    { title: "Host", isHeader: true, cell: ({ host }) => host },
    { title: "Links", isNumber: true, cell: ({ links }) => formatNumber(links) },
    {
      title: "What stands out",
      cell: ({ host, shortener, plain_http: isPlain }) => {
        const listing = findListing(listed, host);
        return (
          <>
            {listing !== undefined && <b class="bad">on the blocklist {listing} </b>}
            {[shortener && "a shortener", isPlain && "not encrypted (http)"]
              .filter(Boolean)
              .join(", ")}
          </>
        );
      },
    },
  ];
  return (
    <section class="panel wide" aria-labelledby="links">
      <h2 id="links">Links</h2>
      <RowTable
        label="Hosts of the links"
        columns={columns}
        rows={content.link_hosts}
        getKey={({ host }) => host}
      />
    </section>
  );
};

/** A blocklist lists a host, or the domain above it. */
const findListing = (listed: ReadonlyMap<string, string>, host: string): string | undefined =>
  [...listed].find(([name]) => host === name || host.endsWith(`.${name}`))?.[1];
