import { useState } from "preact/hooks";
import { useAction } from "../parts/action.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { linkToken } from "../router.ts";
import { getOwnClient } from "../session.ts";
import { PersonPage } from "./person-page.tsx";

/** The page behind the link in each mail. Opening it changes nothing, because mail scanners open links, too. */
export const MailSwitch = () => {
  const [isOn, setOn] = useState(true);
  const turn = useAction(async () => {
    const mail = isOn ? "off" : "on";
    await getOwnClient().unsubscribe({ token: linkToken.value, mail });
    setOn(!isOn);
  });
  return (
    <PersonPage title={isOn ? "Mails to you" : "You get no more mails"}>
      <p>
        {isOn
          ? "Lists that end, low credits, faults of domains, and a letter on Mondays."
          : "Invitations still arrive."}
      </p>
      {turn.error !== undefined && <ErrorPanel error={turn.error} />}
      <button
        type="button"
        class="primary"
        aria-disabled={turn.isRunning}
        onClick={() => void turn.run()}
      >
        {isOn ? "Get no more mails" : "Get mails again"}
      </button>
    </PersonPage>
  );
};
