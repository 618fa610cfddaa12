import { useRef, useState } from "preact/hooks";
import { formatCount, formatNumber } from "../../format.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { account, getClient, refreshAccount } from "../../session.ts";
import { LimitFields, type Limits, readLimits } from "./invite.tsx";

/** What an owner sets for all other people of the account, and for its keys. */
export const AccountLimits = () => {
  const [isOpen, setOpen] = useState(false);
  const { area, monthly } = account.value?.account_limit ?? {};
  const close = () => setOpen(false);
  return (
    <>
      <section class="panel" aria-labelledby="account-limits">
        <h2 id="account-limits">Limits of the account</h2>
        <p>
          {area ? `People who are not owners see ${area} only. ` : "The whole service is open. "}
          {monthly
            ? `All together spend ${formatCount(monthly.credits, "credit")} a month at most; ${formatNumber(monthly.left)} are left.`
            : "No limit of credits a month."}
        </p>
        <button type="button" onClick={() => setOpen(true)}>
          Change the limits
        </button>
      </section>
      <Dialog title="Limits of the account" isOpen={isOpen} onClose={close}>
        <LimitsForm
          before={{ ...(area && { area }), ...(monthly && { monthly_credits: monthly.credits }) }}
          onClose={close}
        />
      </Dialog>
    </>
  );
};

type FormProps = { readonly before: Limits; readonly onClose: () => void };

const LimitsForm = ({ before, onClose }: FormProps) => {
  const form = useRef<HTMLFormElement>(null);
  const { isRunning, error, run } = useAction(async () => {
    const limits = readLimits(new FormData(form.current ?? undefined));
    // Without any field the client would send no body.
    await getClient().setAccountLimits({ area: undefined, ...limits });
    await refreshAccount();
    onClose();
  });
  return (
    <form ref={form} noValidate onSubmit={handleSubmit(run)}>
      <LimitFields before={before} />
      {error !== undefined && <ErrorPanel error={error} />}
      <div class="actions">
        <button type="submit" class="primary" aria-disabled={isRunning}>
          Save
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
};
