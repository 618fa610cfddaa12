import type { Job } from "@mailproof/client";
import { useState } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatCount } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Icon } from "../../parts/icon.tsx";
import { MenuButton } from "../../parts/menu-button.tsx";
import { navigate } from "../../router.ts";
import { getClient, may, refreshAccount } from "../../session.ts";
import { isRunning } from "../lists/job.ts";

type ConfirmProps = {
  readonly action: string;
  readonly question: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly act: () => Promise<void>;
};

const Confirm = ({ action, question, isOpen, onClose, act }: ConfirmProps) => {
  const {
    isRunning: isBusy,
    error,
    run,
  } = useAction(async () => {
    await act();
    onClose();
  });
  return (
    <Dialog title={action} isOpen={isOpen} onClose={onClose}>
      <p>{question}</p>
      {error !== undefined && <ErrorPanel error={error} />}
      <div class="actions">
        <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void run()}>
          {action}
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
};

type Props = { readonly job: Job; readonly onChange: () => void };

const toEnd = ({ job, onChange }: Props) => {
  const { job_id: id, progress } = job;
  if (!isRunning(job))
    return {
      action: "Delete list",
      question:
        "The list, its results and its files are removed. This cannot be undone. The charge stays in your ledger.",
      act: async () => {
        await getClient().deleteJob({ id });
        navigate("lists", { replace: true });
      },
    };
  const left = progress.total - progress.processed;
  return {
    action: "Cancel list",
    question: `${formatCount(left, "address has", "addresses have")} no result yet. They will not be verified, and their credits are returned. Existing results stay. A cancelled list cannot be resumed.`,
    act: async () => {
      await getClient().cancelJob({ id });
      onChange();
      await refreshAccount();
    },
  };
};

export const MoreActions = (props: Props) => {
  const end = toEnd(props);
  const mayChange = may("verification:write");
  // The question closes when its list ends: another question must not appear at the same place under the finger.
  const [asked, setAsked] = useState("");
  const choose = (act: () => void, close: () => void) => () => {
    close();
    act();
  };
  return (
    <>
      <MenuButton
        class="icon-button"
        label={
          <>
            <Icon name="more" />
            <span class="unseen">More</span>
          </>
        }
      >
        {(close) => (
          <>
            <a class="button" href={toHref("lists")}>
              All lists
            </a>
            {mayChange && !isRunning(props.job) && props.job.kind !== "single" && (
              <a class="button" href={toHref(`lists/new?continues=${props.job.job_id}`)}>
                Upload a newer version
              </a>
            )}
            <button type="button" onClick={choose(() => print(), close)}>
              Print summary
            </button>
            {mayChange && (
              <button type="button" onClick={choose(() => setAsked(end.action), close)}>
                {end.action}
              </button>
            )}
          </>
        )}
      </MenuButton>
      <Confirm {...end} isOpen={asked === end.action} onClose={() => setAsked("")} />
    </>
  );
};
