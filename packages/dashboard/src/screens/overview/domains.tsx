import type { CheckSummary } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { type Load, Loaded } from "../../parts/load.tsx";
import { DomainList } from "../domains/domain-list.tsx";
import { Part } from "./part.tsx";

const SHOWN = 6;

export const DomainsPanel = ({ load }: { readonly load: Load<readonly CheckSummary[]> }) => (
  <Part
    id="domains"
    title="Domains"
    error={load.error}
    action={<a href={toHref("domains")}>Check a domain</a>}
  >
    <Loaded load={load} what="the checks of domains" as="grades">
      {(domains) =>
        domains.length === 0 ? (
          <p class="soft">No domain has been checked yet.</p>
        ) : (
          <DomainList checks={domains.slice(0, SHOWN)} />
        )
      }
    </Loaded>
  </Part>
);
