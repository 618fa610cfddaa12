import { toHref } from "../../base.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { DomainList, loadLatest } from "../domains/domain-list.tsx";
import { Part } from "./part.tsx";

const SHOWN = 6;

export const DomainsPanel = () => {
  const load = useLoad(loadLatest);
  return (
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
};
