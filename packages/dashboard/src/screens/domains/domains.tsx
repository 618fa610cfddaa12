import { useRef } from "preact/hooks";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { navigate } from "../../router.ts";
import { DomainList, loadLatest } from "./domain-list.tsx";
import "./domains.css";

export const Domains = () => {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Screen
      title="Domains"
      lead="Whether a domain is set up to send mail that arrives, and what to publish if it is not."
    >
      <form
        class="one-line"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const domain = field.current?.value.trim() ?? "";
          if (domain === "") field.current?.focus();
          else navigate(`domains/${encodeURIComponent(domain.toLowerCase())}`);
        }}
      >
        <label for="domain">Domain</label>
        <div class="with-button">
          <input
            ref={field}
            id="domain"
            type="text"
            inputMode="url"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="example.com"
          />
          <button type="submit" class="primary">
            Open
          </button>
        </div>
        <p class="soft">Opening a report is free. A new check asks before it charges.</p>
      </form>
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
