import { toStatusClass } from "@mailproof/api/http/status-class";
import { metrics } from "../metrics.ts";

type AnsweredRequest = {
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

/** One log line contains both metrics. */
export const countRequest = ({ route, status, seconds }: AnsweredRequest): void => {
  const dimensions = { status: toStatusClass(status) };
  metrics.count("mailproof_http_requests_total", dimensions, { route });
  metrics.observe("mailproof_http_request_duration_seconds", dimensions, { route }, seconds);
};

export const countFailure = (functionName: string): void =>
  metrics.count("mailproof_lambda_failures_total", { function_name: functionName });
