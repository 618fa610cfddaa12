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
