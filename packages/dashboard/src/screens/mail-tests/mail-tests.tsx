import { Screen } from "../../parts/screen.tsx";
import type { Params } from "../../router.ts";
import { DomainTabs } from "../domains/tabs.tsx";
import { NewTestButton } from "./new-test-button.tsx";
import { TestList } from "./test-list.tsx";
import "../domains/domains.css";
import "./mail-tests.css";

export const MailTests = () => (
  <Screen
    title="Mail tests"
    lead="Send one mail to a one-time address and see how it arrived: signatures, alignment, server, content."
    actions={<NewTestButton />}
  >
    <TestList />
  </Screen>
);

export const DomainMailTests = ({ params }: { readonly params: Params }) => {
  const domain = params["domain"] ?? "";
  return (
    <Screen title={`${domain}: mail tests`} lead="How mail from this domain arrived.">
      <DomainTabs domain={domain} />
      <TestList domain={domain} />
      <p class="soft">
        A test belongs to the domain in the From field of its mail, so it is listed here once its
        mail has arrived.
      </p>
      <NewTestButton />
    </Screen>
  );
};
