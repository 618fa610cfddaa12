import { createHash } from "node:crypto";
import {
  ASSET_CACHE_CONTROL,
  DASHBOARD_PATH,
  type DashboardRequest,
  findDashboardFile,
  getContentType,
  isForDashboard,
  PAGE_FILE,
  PAGE_HEADERS,
  redirectToDashboard,
} from "@mailproof/api/http/dashboard-files";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import { Failure } from "@mailproof/core/lib/failure";
import type { World } from "@mailproof/core/ports/world";
import { chooseEncoding, type Encoding, isMatch } from "@mailproof/net/content-encoding";
import { type BuiltFiles, loadDashboard } from "./dashboard-build.ts";
import type { Site } from "./site.ts";

export type Dashboard = {
  /** Undefined when the request is for another part. */
  readonly answer: (
    request: DashboardRequest,
  ) => Promise<HttpAnswer<Uint8Array | string>> | undefined;
  readonly close: () => void;
};

/** Serves the dashboard from memory. Starts a missing build at once; requests wait for the build. */
export const openDashboard = (
  { log }: Pick<World, "log">,
  site: Site,
  load: (signal: AbortSignal) => Promise<BuiltFiles> = loadDashboard,
): Dashboard => {
  const closing = new AbortController();
  const prefix = getPrefix(site);
  const open = () =>
    load(closing.signal).then(
      (files) => createResponses(files, prefix),
      (cause: unknown) => {
        // The next request tries again.
        responses = undefined;
        if (!closing.signal.aborted) log("dashboard_failed", { cause });
        throw new Failure("UNAVAILABLE", "nothing_charged", "The dashboard could not be built.", {
          cause,
        });
      },
    );
  let responses: ReturnType<typeof open> | undefined = open();
  responses.catch(() => {});

  const serve = async (request: DashboardRequest) =>
    redirectToDashboard(request, prefix) ??
    toAnswer(findDashboardFile(await (responses ??= open()), request), request.headers);

  return {
    answer: (request) => (isForDashboard(request) ? serve(request) : undefined),
    close: () => closing.abort(),
  };
};

/** A proxy may have removed the path: then only the operator's setting contains it. */
const getPrefix = ({ publicUrl, basePath }: Site): string =>
  publicUrl === null ? basePath : new URL(publicUrl).pathname.replace(/\/$/, "");

type FileResponse = {
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly bodies: Readonly<Partial<Record<Encoding, Buffer>>> & { readonly identity: Buffer };
};

const createResponses = (files: BuiltFiles, prefix: string): ReadonlyMap<string, FileResponse> =>
  new Map(
    Object.entries(files).map(([path, { text, br, gzip }]) => {
      if (path === PAGE_FILE)
        return [
          path,
          createPage(text.replaceAll(`"${DASHBOARD_PATH}`, `"${prefix}${DASHBOARD_PATH}`)),
        ];
      const bodies = {
        identity: Buffer.from(text),
        br: Buffer.from(br, "base64"),
        gzip: Buffer.from(gzip, "base64"),
      };
      const headers = {
        "content-type": getContentType(path),
        "cache-control": ASSET_CACHE_CONTROL,
      };
      return [path, { headers, etag: toHash(text), bodies }];
    }),
  );

/** The page contains the base path, and is smaller than a packet. */
const createPage = (text: string): FileResponse => ({
  headers: PAGE_HEADERS,
  etag: toHash(text),
  bodies: { identity: Buffer.from(text) },
});

const toHash = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);

const toAnswer = (
  { headers, etag: hash, bodies }: FileResponse,
  requested: DashboardRequest["headers"],
): HttpAnswer<Uint8Array> => {
  const wanted = chooseEncoding(requested["accept-encoding"]);
  const encoding = bodies[wanted] ? wanted : "identity";
  // Each encoding produces other bytes and therefore needs its own strong tag (RFC 9110 §8.8.3.3).
  const etag = `"${hash}-${encoding}"`;
  const common = { ...headers, etag, vary: "accept-encoding", "x-content-type-options": "nosniff" };
  if (isMatch(requested["if-none-match"], etag))
    return { statusCode: 304, headers: common, body: Buffer.alloc(0) };
  const coded = encoding === "identity" ? {} : { "content-encoding": encoding };
  return {
    statusCode: 200,
    headers: { ...common, ...coded },
    body: bodies[encoding] ?? bodies.identity,
  };
};
