export const TAGS = {
  Verification: "Verify whether addresses can receive mail: one address, a batch or a file.",
  Jobs: "Follow longer work, read its results and export them.",
  Find: "Find a person's work address.",
  Activity: "Opens and clicks of an address, and the reputation of a domain.",
  Deliverability: "Check how a domain is set up to send mail, once or at intervals.",
  Webhooks: "Get notified when something happens.",
  Account: "Plan, credits, usage and API keys.",
  People:
    "Sign in to the dashboard, and manage the people of an account. For its own pages: keys are refused.",
  Service: "Public operations that need no key.",
} as const;

export type Tag = keyof typeof TAGS;
