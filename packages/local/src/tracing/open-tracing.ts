import type { Log } from "@mailproof/core/ports/world";
import manifest from "../../package.json" with { type: "json" };
import {
  createSampler,
  findTracesUrl,
  listResourceAttributes,
  type OtelSettings,
} from "./otel-settings.ts";
import { createOtlpExporter, type OnSpans } from "./otlp-exporter.ts";
import { createTracing, type Tracing } from "./tracing.ts";

/** Undefined: no collector is set, and nothing is traced. */
export const openTracing = (
  settings: OtelSettings,
  { log, onSpans = () => undefined }: { readonly log: Log; readonly onSpans?: OnSpans | undefined },
): Tracing | undefined => {
  const url = findTracesUrl(settings);
  if (url === undefined) return undefined;
  const headers = Object.fromEntries(settings.OTEL_EXPORTER_OTLP_HEADERS);
  const resource = listResourceAttributes(settings, manifest.version);
  const exporter = createOtlpExporter({ url, headers, resource }, { log, onSpans });
  return createTracing(createSampler(settings), exporter);
};
