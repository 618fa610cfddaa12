import type { FunctionComponent } from "preact";
import type { IconName } from "./parts/icon.tsx";
import type { Params } from "./router.ts";
import { isOperator, type Right } from "./session.ts";

export type ScreenProps = { readonly params: Params };

export type ScreenEntry = {
  /** The path below /app/; each ":name" matches one part. */
  readonly path: string;
  readonly title: string;
  readonly group?: (typeof GROUPS)[number];
  readonly icon?: IconName;
  /** The right without which a person does not see the screen. */
  readonly needs?: Right;
  readonly load: () => Promise<FunctionComponent<ScreenProps>>;
};

/** The screens for an operator's key (docs/operating.md). Such a key belongs to no account, so it opens no other screens. */
export const OPERATOR_SCREENS: readonly ScreenEntry[] = [
  {
    path: "",
    title: "Server",
    icon: "operator",
    load: async () => (await import("./screens/operator/server.tsx")).Server,
  },
  {
    path: "accounts",
    title: "Accounts",
    icon: "account",
    load: async () => (await import("./screens/operator/accounts.tsx")).Accounts,
  },
  {
    path: "accounts/:account",
    title: "Account",
    load: async () => (await import("./screens/operator/account.tsx")).Account,
  },
];

export const GROUPS = ["Verify", "Deliverability", "Account", "Developers"] as const;

/** Every screen, in the order of the navigation. The browser loads its code on first use. */
export const SCREENS: readonly ScreenEntry[] = [
  {
    path: "",
    title: "Overview",
    icon: "overview",
    load: async () => (await import("./screens/overview/overview.tsx")).Overview,
  },
  {
    path: "verify",
    title: "Verify one address",
    group: "Verify",
    icon: "verify",
    needs: "verification:write",
    load: async () => (await import("./screens/verify/verify.tsx")).Verify,
  },
  {
    path: "lists/new",
    title: "New list",
    group: "Verify",
    icon: "newList",
    needs: "verification:write",
    load: async () => (await import("./screens/new-list/new-list.tsx")).NewList,
  },
  {
    path: "lists",
    title: "Lists",
    group: "Verify",
    icon: "lists",
    needs: "verification:read",
    load: async () => (await import("./screens/lists/lists.tsx")).Lists,
  },
  {
    path: "lists/:id",
    title: "List",
    needs: "verification:read",
    load: async () => (await import("./screens/list/list.tsx")).List,
  },
  {
    path: "forms",
    title: "Sign-up forms",
    group: "Verify",
    icon: "forms",
    needs: "verification:read",
    load: async () => (await import("./screens/forms/forms.tsx")).Forms,
  },
  {
    path: "find",
    title: "Find",
    group: "Verify",
    icon: "find",
    needs: "verification:write",
    load: async () => (await import("./screens/find/find.tsx")).Find,
  },
  {
    path: "domains",
    title: "Domains",
    group: "Deliverability",
    icon: "domain",
    needs: "deliverability:read",
    load: async () => (await import("./screens/domains/domains.tsx")).Domains,
  },
  {
    path: "domains/:domain",
    title: "Domain report",
    needs: "deliverability:read",
    load: async () => (await import("./screens/domains/report.tsx")).DomainReport,
  },
  {
    path: "domains/:domain/progress",
    title: "Progress of a domain",
    needs: "deliverability:read",
    load: async () => (await import("./screens/domain-progress/progress.tsx")).DomainProgress,
  },
  {
    path: "domains/:domain/reports",
    title: "Reports about a domain",
    needs: "deliverability:read",
    load: async () => (await import("./screens/domain-reports/reports.tsx")).DomainReports,
  },
  {
    path: "domains/:domain/mail-tests",
    title: "Mail tests of a domain",
    needs: "deliverability:read",
    load: async () => (await import("./screens/mail-tests/mail-tests.tsx")).DomainMailTests,
  },
  {
    path: "reports",
    title: "DMARC reports",
    group: "Deliverability",
    icon: "reports",
    needs: "deliverability:read",
    load: async () => (await import("./screens/domain-reports/all-reports.tsx")).AllReports,
  },
  {
    path: "mail-tests",
    title: "Mail tests",
    group: "Deliverability",
    icon: "mailTests",
    needs: "deliverability:read",
    load: async () => (await import("./screens/mail-tests/mail-tests.tsx")).MailTests,
  },
  {
    path: "mail-tests/:id",
    title: "Mail test",
    needs: "deliverability:read",
    load: async () => (await import("./screens/mail-tests/mail-test-screen.tsx")).MailTestScreen,
  },
  {
    path: "monitors",
    title: "Monitors",
    group: "Deliverability",
    icon: "monitors",
    needs: "deliverability:read",
    load: async () => (await import("./screens/monitors/monitors.tsx")).Monitors,
  },
  {
    path: "usage",
    title: "Usage",
    group: "Account",
    icon: "usage",
    load: async () => (await import("./screens/usage/usage.tsx")).Usage,
  },
  {
    path: "settings/people",
    title: "People",
    group: "Account",
    icon: "people",
    needs: "people",
    load: async () => (await import("./screens/people/people.tsx")).People,
  },
  {
    path: "settings/sign-ins",
    title: "Your sign-ins",
    group: "Account",
    icon: "account",
    needs: "person",
    load: async () => (await import("./screens/sign-ins/sign-ins.tsx")).SignIns,
  },
  {
    path: "settings/api-keys",
    title: "API keys",
    group: "Developers",
    icon: "keys",
    needs: "owner",
    load: async () => (await import("./screens/api-keys/api-keys.tsx")).ApiKeys,
  },
  {
    path: "webhooks",
    title: "Webhooks",
    group: "Developers",
    icon: "webhooks",
    needs: "webhooks:read",
    load: async () => (await import("./screens/webhooks/webhooks.tsx")).Webhooks,
  },
  {
    path: "webhooks/:id",
    title: "Webhook",
    needs: "webhooks:read",
    load: async () => (await import("./screens/webhooks/webhook.tsx")).Webhook,
  },
  {
    path: "logs",
    title: "Logs",
    group: "Developers",
    icon: "logs",
    load: async () => (await import("./screens/logs/logs.tsx")).Logs,
  },
];

export const listScreens = (): readonly ScreenEntry[] =>
  isOperator.value ? OPERATOR_SCREENS : SCREENS;
