import type { CreateInvitationData } from "@mailproof/client";
import { AREAS, type Area } from "@mailproof/core/accounts/scopes";
import { mayManageRole, ROLES, type Role } from "@mailproof/core/people/roles";
import { useRef, useState } from "preact/hooks";
import { formatTime } from "../../format.ts";
import { handleSubmit, readText, useAction } from "../../parts/action.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { MEANINGS } from "../../parts/words.ts";
import { getClient, membership } from "../../session.ts";
import "../api-keys/api-keys.css";

export type Limits = { readonly area?: Area; readonly monthly_credits?: number };

type Input = Limits & { readonly role: Role; readonly email?: string };

type FormProps = {
  /** The member that the form changes; absent for an invitation, which also has an address. */
  readonly before?: Input;
  readonly yes: string;
  readonly send: (input: Input) => Promise<void>;
  readonly onClose: () => void;
};

export const readLimits = (fields: FormData): Limits => {
  const area = AREAS.find((one) => one === readText(fields, "area"));
  const monthly = readText(fields, "monthly");
  return { ...(area && { area }), ...(monthly !== "" && { monthly_credits: Number(monthly) }) };
};

const readInput = (fields: FormData): Input => {
  const email = readText(fields, "email");
  return {
    role: ROLES.find((one) => one === readText(fields, "role")) ?? "viewer",
    ...readLimits(fields),
    ...(email !== "" && { email }),
  };
};

/** Role and limits of a member, as an invitation or a change has them. */
export const RoleForm = ({ before, yes, send, onClose }: FormProps) => {
  const form = useRef<HTMLFormElement>(null);
  const own = membership.value?.role ?? "viewer";
  const [role, setRole] = useState<Role>(before?.role ?? "member");
  const save = useAction(async () => {
    if (form.current) await send(readInput(new FormData(form.current)));
  });
  return (
    <form ref={form} noValidate onSubmit={handleSubmit(save.run)}>
      <fieldset class="choice scopes">
        <legend>Role</legend>
        {ROLES.filter((one) => mayManageRole(own, one)).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="role"
              value={one}
              checked={role === one}
              onChange={() => setRole(one)}
            />
            <span>
              {one} <small>{MEANINGS[one]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {/* Owners have no limits. */}
      {role !== "owner" && <LimitFields before={before} />}
      {!before && (
        <>
          <label for="invite-email">Email address, if you know it</label>
          <input id="invite-email" name="email" type="email" autocomplete="off" />
        </>
      )}
      <Answers isForm action={save} yes={yes} onClose={onClose} />
    </form>
  );
};

export const LimitFields = ({ before }: { readonly before: Limits | undefined }) => (
  <>
    <label for="member-area">Limited to</label>
    <select id="member-area" name="area" defaultValue={before?.area ?? ""}>
      <option value="">nothing: the whole account</option>
      {AREAS.map((area) => (
        <option key={area} value={area} selected={before?.area === area}>
          {area}
        </option>
      ))}
    </select>
    <label for="member-monthly">Credits a month, at most</label>
    <input
      id="member-monthly"
      name="monthly"
      type="number"
      min={0}
      placeholder="no limit"
      defaultValue={before?.monthly_credits?.toString()}
    />
  </>
);

type DialogProps = {
  readonly isOpen: boolean;
  readonly onInvited: () => void;
  readonly onClose: () => void;
};

/** Shows the form, and then the link: when the dialog closes, nobody can read the link again. */
export const InviteDialog = ({ isOpen, onInvited, onClose }: DialogProps) => {
  const [invited, setInvited] = useState<CreateInvitationData | null>(null);
  const close = () => {
    setInvited(null);
    onClose();
  };
  return (
    <Dialog
      title={invited ? toLinkTitle(invited) : "Invite a person"}
      isOpen={isOpen}
      onClose={close}
    >
      {invited ? (
        <NewLink invited={invited} onClose={close} />
      ) : (
        <RoleForm
          yes="Create the link"
          send={async (input) => {
            setInvited(await getClient().createInvitation(input));
            onInvited();
          }}
          onClose={close}
        />
      )}
    </Dialog>
  );
};

type LinkProps = { readonly invited: CreateInvitationData; readonly onClose: () => void };

const toLinkTitle = ({ mailed }: CreateInvitationData): string =>
  mailed ? "The invitation is on its way" : "Send this link";

const NewLink = ({ invited: { url, email, mailed, expires_at }, onClose }: LinkProps) => (
  <>
    {mailed && <p>This service mails the link to {email}. You need not send it.</p>}
    <p>
      It works once, until {formatTime(expires_at)}, and is shown only here. Give it to{" "}
      {email ?? "the person"} alone: the first person who opens it joins.
    </p>
    <p class="new-key">
      <code>{url}</code> <CopyButton text={url} />
    </p>
    <div class="actions">
      <button type="button" class="primary" onClick={onClose}>
        Done
      </button>
    </div>
  </>
);
