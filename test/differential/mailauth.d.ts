/** The part of mailauth that ours is compared with; the package has no types of its own. */
type Resolver = (name: string, type: string) => Promise<unknown>;

declare module "mailauth/lib/spf/index.js" {
  export const spf: (options: {
    readonly sender: string;
    readonly ip: string;
    readonly helo: string;
    readonly resolver: Resolver;
    /** As RFC 7208 has it, without what receivers put up with. */
    readonly strict: true;
  }) => Promise<{
    readonly status: { readonly result: string; readonly comment: string };
    readonly lookups?: { readonly count: number; readonly void: number };
  }>;
}

declare module "mailauth/lib/dmarc/get-dmarc-record.js" {
  type Record = Readonly<{ [tag: string]: string | undefined }>;
  export type Discovered = {
    readonly record: Record | false;
    readonly recordDomain: string | null;
    readonly orgDomain: string | null;
  };
  export const createRecordLookup: (
    resolver: Resolver,
    options: { readonly strict: true },
  ) => unknown;
  export const discoverPolicy: (domain: string, lookup: unknown) => Promise<Discovered>;
  export const getPolicyTags: (record: Record) => Record | null;
}

declare module "mailauth/lib/bimi/index.js" {
  export const bimi: (options: {
    readonly dmarc: {
      readonly status: { readonly result: string; readonly header: { readonly from: string } };
      readonly domain: string;
      readonly policy: string | null;
      readonly rr: string | undefined;
      readonly policyDomain: string | undefined;
    };
    readonly headers: { readonly parsed: readonly never[] };
    readonly resolver: Resolver;
  }) => Promise<{ readonly status: { readonly result: string; readonly comment?: string } }>;
}

declare module "mailauth/lib/bimi/validate-svg.js" {
  /** Throws where the logo is not one. */
  export const validateSvg: (logo: string) => true;
}

declare module "mailauth/lib/mta-sts.js" {
  type Policy = { readonly mode: string; readonly mx?: readonly string[] };
  /** Throws where the policy is none. */
  export const parsePolicy: (file: string, options: { readonly strict: true }) => Policy;
  export const validateMx: (mx: string, policy: Policy) => { readonly valid: boolean };
}
