import { toHref } from "../../base.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { DomainList, loadLatest } from "../domains/domain-list.tsx";
import { Upload } from "./upload.tsx";
import "../domains/domains.css";
import "./reports.css";

export const AllReports = () => {
  const load = useLoad(loadLatest);
  return (
    <Screen
      title="DMARC reports"
      lead="What receivers report about your domains: who sends as them, and how much of it is aligned."
    >
      <Loaded load={load} what="the checked domains" as="grades">
        {(checks) =>
          checks.length === 0 ? (
            <Empty
              shape="bars"
              action={
                <a class="button" href={toHref("domains")}>
                  Check a domain
                </a>
              }
            >
              Upload a report, or check a domain to see how to receive its reports automatically.
            </Empty>
          ) : (
            <DomainList checks={checks} tab="/reports" />
          )
        }
      </Loaded>
      <Upload onStored={load.reload} />
    </Screen>
  );
};
