import { Loaded, useLoad } from "../../parts/load.tsx";
import { OneLineForm } from "../../parts/one-line-form.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { navigate } from "../../router.ts";
import { DomainList, loadLatest } from "./domain-list.tsx";
import "./domains.css";

export const Domains = () => {
  return (
    <Screen
      title="Domains"
      lead="Whether a domain is set up to send mail that arrives, and what to publish if it is not."
    >
      <OneLineForm
        id="domain"
        label="Domain"
        inputMode="url"
        placeholder="example.com"
        action="Open"
        onText={(domain) => navigate(`domains/${encodeURIComponent(domain.toLowerCase())}`)}
      >
        <p class="soft">Opening a report is free. A new check asks before it charges.</p>
      </OneLineForm>
      <Loaded load={useLoad(loadLatest)} what="the checked domains" as="grades">
        {(checks) =>
          checks.length === 0 ? (
            <Empty shape="grades">
              No domain has been checked yet. Each one gets its grade, and what to publish.
            </Empty>
          ) : (
            <DomainList checks={checks} />
          )
        }
      </Loaded>
    </Screen>
  );
};
