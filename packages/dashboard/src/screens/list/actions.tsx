import type { Job } from "@mailproof/client";
import { useState } from "preact/hooks";
import { formatCount } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { navigate } from "../../router.ts";
import { getClient, refreshAccount } from "../../session.ts";
import { isRunning } from "../lists/job.ts";

type ConfirmProps = {
  readonly action: string;
  readonly question: string;
  readonly act: () => Promise<void>;
};

/** A button whose action cannot be undone: it says what happens, and asks. */
const Confirm = ({ action, question, act }: ConfirmProps) => {
  const [isOpen, setOpen] = useState(false);
  const {
    isRunning: isBusy,
    error,
    run,
  } = useAction(async () => {
    await act();
    setOpen(false);
  });
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {action}
      </button>
      <Dialog title={action} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>{question}</p>
        {error !== undefined && <ErrorPanel error={error} />}
        <div class="actions">
          <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void run()}>
            {action}
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            Keep it
          </button>
        </div>
      </Dialog>
    </>
  );
};

type Props = { readonly job: Job; readonly onChange: () => void };

export const ListActions = ({ job, onChange }: Props) => {
  const { job_id: id, progress } = job;
  const left = progress.total - progress.processed;
  const cancel = async () => {
    await getClient().cancelJob({ id });
    onChange();
    await refreshAccount();
  };
  const remove = async () => {
    await getClient().deleteJob({ id });
    navigate("lists", { replace: true });
  };
  return (
    <>
      <button type="button" onClick={() => print()}>
        Print summary
      </button>
      {isRunning(job) ? (
        <Confirm
          key="cancel"
          action="Cancel list"
          question={`${formatCount(left, "address has", "addresses have")} no result yet. They will not be verified, and their credits are returned. Existing results stay. A cancelled list cannot be resumed.`}
          act={cancel}
        />
      ) : (
        <Confirm
          key="delete"
          action="Delete list"
          question="The list, its results and its files are removed. This cannot be undone. The charge stays in your ledger."
          act={remove}
        />
      )}
    </>
  );
};
