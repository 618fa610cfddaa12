import type { Address } from "@mailproof/mail/address";
import { popularProviders } from "@mailproof/mail/lists/providers";
import { scoreCatchAll } from "@mailproof/mail/signals/catch-all-score";
import { suggestTypo } from "@mailproof/mail/signals/typo";
import type { DomainHistory } from "../calibration/account-history.ts";
import { getCertainty } from "./certainty.ts";
import { hasMailHost, toChecks } from "./checks.ts";
import type { Engine } from "./engine.ts";
import { isCatchAllInQuestion, isUndecided, type Judgement } from "./judge.ts";
import type { Verification } from "./result.ts";
import type { Signals } from "./signals.ts";
import { splitRoughly } from "./split-roughly.ts";

type Lookup = {
  readonly text: string;
  readonly address: Address | null;
  readonly listed: Signals["listed"];
  readonly domainHistory: DomainHistory;
};

export const createAiFields = (
  engine: Pick<Engine, "lists">,
  lookup: Lookup,
  signals: Signals,
  judged: Judgement,
): NonNullable<Verification["ai"]> => {
  const { local, domain } = lookup.address ?? splitRoughly(lookup.text);
  const { suggestion, confidence } = suggestTypo(
    { local, domain },
    {
      mailWorks: mailWorks(signals),
      squatOf: lookup.listed.squat,
      hasRareEnding: engine.lists.rareEnding(domain),
    },
    popularProviders,
  );
  return {
    typoSuggestion: suggestion,
    typoConfidence: confidence,
    catchAllConfidence: findCertainty(signals, judged) ?? estimateMailbox(lookup),
  };
};

export const estimateMailbox = ({ address, text, listed, domainHistory }: Lookup): number =>
  scoreCatchAll((address ?? splitRoughly(text)).local, {
    isRole: listed.role !== null,
    ...domainHistory,
  });

/** A mail server's reply to this address gives certainty under every status. */
const findCertainty = (signals: Signals, { status }: Judgement): number | undefined => {
  if (signals.isControlled) return 1;
  if (isCatchAllInQuestion(signals)) return undefined;
  if (signals.mailbox?.verdict === "invalid") return 0;
  return getCertainty(status, toChecks(signals));
};

/** True when mail for the domain works. False when mail does not work, or when the address cannot exist. */
const mailWorks = ({ domain, syntaxFault, isControlled }: Signals): boolean | "undecided" => {
  if (isControlled) return true;
  if (syntaxFault !== null) return false;
  if (hasMailHost(domain)) return true;
  return isUndecided(domain) || domain === "not_asked" || domain === "address_literal"
    ? "undecided"
    : false;
};
