import type { ListMembersData } from "@mailproof/client";
import { mayManageRole } from "@mailproof/core/people/roles";
import { useRef, useState } from "preact/hooks";
import { formatCount, formatNumber, formatTime } from "../../format.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { Screen } from "../../parts/screen.tsx";
import {
  account,
  getClient,
  may,
  membership,
  person,
  refreshAccount,
  refreshPerson,
} from "../../session.ts";
import { InviteDialog, LimitFields, type Limits, RoleForm, readLimits } from "./invite.tsx";

type Member = ListMembersData["members"][number];
type Invitation = ListMembersData["invitations"][number];

type Asked =
  | { readonly kind: "invite" }
  | { readonly kind: "change" | "remove"; readonly member: Member };

export const People = () => {
  const load = useLoad((signal) => getClient().listMembers({ signal }));
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const done = () => {
    close();
    load.reload();
  };
  return (
    <Screen
      title="People"
      lead={`Who may act in ${membership.value?.name ?? "this account"}. Each person signs in, and the logs name the person.`}
      actions={
        <button type="button" class="primary" onClick={() => setAsked({ kind: "invite" })}>
          Invite a person
        </button>
      }
    >
      <Loaded load={load} what="the people" as="rows">
        {({ members, invitations }) => (
          <>
            <MemberTable members={members} onAsk={setAsked} />
            <Invitations invitations={invitations} onWithdrawn={load.reload} />
            {may("owner") && <AccountLimits />}
          </>
        )}
      </Loaded>
      <InviteDialog isOpen={asked?.kind === "invite"} onInvited={load.reload} onClose={close} />
      <Dialog
        title={asked?.kind === "change" ? `Change ${asked.member.name}` : ""}
        isOpen={asked?.kind === "change"}
        onClose={close}
      >
        {asked?.kind === "change" && (
          <Change member={asked.member} onChanged={done} onClose={close} />
        )}
      </Dialog>
      <Dialog
        title={asked?.kind === "remove" ? toQuestion(asked.member) : ""}
        isOpen={asked?.kind === "remove"}
        onClose={close}
      >
        {asked?.kind === "remove" && (
          <Remove member={asked.member} onRemoved={done} onClose={close} />
        )}
      </Dialog>
    </Screen>
  );
};

const isOwn = ({ person_id: id }: Member): boolean => person.value?.person_id === id;

const toQuestion = (member: Member): string =>
  isOwn(member) ? "Leave this account?" : `Remove ${member.name}?`;

const toLimits = ({ area, monthly_credits: monthly }: Partial<Member>): string =>
  [
    ...(area ? [`${area} only`] : []),
    ...(monthly === undefined ? [] : [`${formatCount(monthly, "credit")} a month`]),
  ].join(", ") || "none";

type TableProps = {
  readonly members: readonly Member[];
  readonly onAsk: (asked: Asked) => void;
};

const MemberTable = ({ members, onAsk }: TableProps) => {
  const own = membership.value?.role ?? "viewer";
  const columns: readonly Column<Member>[] = [
    {
      title: "Name",
      isHeader: true,
      cell: (member) => (
        <>
          {member.name}
          {isOwn(member) && " (you)"}
          {member.email !== undefined && <small>{member.email}</small>}
        </>
      ),
    },
    { title: "Role", cell: ({ role }) => role },
    { title: "Limits", cell: toLimits },
    { title: "Since", cell: ({ since }) => formatTime(since) },
    {
      title: "Action",
      cell: (member) =>
        (isOwn(member) || mayManageRole(own, member.role)) && (
          <>
            {mayManageRole(own, member.role) && (
              <button type="button" class="quiet" onClick={() => onAsk({ kind: "change", member })}>
                Change <span class="unseen">{member.name}</span>
              </button>
            )}
            <button type="button" class="quiet" onClick={() => onAsk({ kind: "remove", member })}>
              {isOwn(member) ? "Leave" : "Remove"} <span class="unseen">{member.name}</span>
            </button>
          </>
        ),
    },
  ];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of members">
      <RowTable
        label="Members"
        columns={columns}
        rows={members}
        getKey={({ person_id: id }) => id}
      />
    </div>
  );
};

type InvitationsProps = {
  readonly invitations: readonly Invitation[];
  readonly onWithdrawn: () => void;
};

const Invitations = ({ invitations, onWithdrawn }: InvitationsProps) => {
  const withdraw = useAction(async (id: string) => {
    await getClient().deleteInvitation({ id });
    onWithdrawn();
  });
  if (invitations.length === 0) return null;
  const columns: readonly Column<Invitation>[] = [
    { title: "For", isHeader: true, cell: ({ email }) => email ?? "anyone with the link" },
    { title: "Role", cell: ({ role }) => role },
    { title: "Limits", cell: toLimits },
    { title: "Until", cell: ({ expires_at }) => formatTime(expires_at) },
    {
      title: "Action",
      cell: ({ invitation_id: id, email = "the link" }) => (
        <button type="button" class="quiet" onClick={() => void withdraw.run(id)}>
          Withdraw <span class="unseen">the invitation for {email}</span>
        </button>
      ),
    },
  ];
  return (
    <section class="panel" aria-labelledby="invitations">
      <h2 id="invitations">Open invitations</h2>
      {withdraw.error !== undefined && <ErrorPanel error={withdraw.error} />}
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of invitations">
        <RowTable
          label="Open invitations"
          columns={columns}
          rows={invitations}
          getKey={({ invitation_id: id }) => id}
        />
      </div>
    </section>
  );
};

type ChangeProps = {
  readonly member: Member;
  readonly onChanged: () => void;
  readonly onClose: () => void;
};

const Change = ({ member, onChanged, onClose }: ChangeProps) => (
  <>
    <p>A changed member signs in again before the next request in this account.</p>
    <RoleForm
      before={member}
      yes="Save"
      send={async (input) => {
        await getClient().updateMember({ id: member.person_id, ...input });
        onChanged();
      }}
      onClose={onClose}
    />
  </>
);

type RemoveProps = {
  readonly member: Member;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
};

const Remove = ({ member, onRemoved, onClose }: RemoveProps) => {
  const remove = useAction(async () => {
    await getClient().removeMember({ id: member.person_id });
    if (isOwn(member)) await refreshPerson();
    else onRemoved();
  });
  return (
    <>
      <p>
        {isOwn(member)
          ? "You can no longer act in this account. An owner can invite you again."
          : "It takes effect immediately. API keys stay: revoke those that the person knows."}
      </p>
      <Answers
        action={remove}
        yes={isOwn(member) ? "Leave the account" : "Remove the member"}
        class="danger"
        onClose={onClose}
      />
    </>
  );
};

/** What an owner sets for all other people of the account, and for its keys. */
const AccountLimits = () => {
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
  const save = useAction(async () => {
    const limits = readLimits(new FormData(form.current ?? undefined));
    // Without any field the client would send no body.
    await getClient().setAccountLimits({ area: undefined, ...limits });
    await refreshAccount();
    onClose();
  });
  return (
    <form ref={form} noValidate onSubmit={handleSubmit(save.run)}>
      <LimitFields before={before} />
      <Answers isForm action={save} yes="Save" onClose={onClose} />
    </form>
  );
};
