import { readFileSync } from "node:fs";
import type { Settings, Size } from "./settings.ts";

// The prices of AWS, and the cost of a stage. docs/costs.md, docs/scale.md and the preflight of a deployment use them.

/** US East, on demand, in dollars; as published in November 2026. */
export const PRICES = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  queueRequest: 0.4e-6,
  put: 5e-6,
  get: 0.4e-6,
  call: 1e-6,
  run: 0.2e-6,
  gigabyteSecond: 13.3334e-6,
  natGatewayHour: 0.045,
  natInstanceHour: 0.0042,
  natInstanceDiskMonth: 0.64,
  addressHour: 0.005,
  alarmMetricMonth: 0.1,
  ownMetricMonth: 0.3,
  dashboardMonth: 3,
  hostedZoneMonth: 0.5,
  encryptionKeyMonth: 1,
} as const;

export const HOURS = 730;

/** The alarms of the monitoring stack by the size of a stage; test/infra/operations.test.ts counts them. */
export const ALARMS: Readonly<Record<Size, { readonly alarms: number; readonly metrics: number }>> =
  {
    full: { alarms: 155, metrics: 339 },
    lean: { alarms: 47, metrics: 78 },
  };

/** Seven gauges and cold starts are published without a request. The durations of schedules are assumed. */
const IDLE_METRICS = 7;
const QUEUES_IDLE_MONTH = 4.73;
const SCHEDULES_MONTH = 0.25;

type Item = { readonly item: string; readonly how: string; readonly dollars: number };

const listNetworkItems = ({ size, vpc }: Settings): readonly Item[] => {
  if (vpc !== "own") return [];
  const addresses = size === "full" ? 2 : 1;
  const nat =
    size === "full"
      ? { how: "2 gateways × $0.045 an hour", dollars: 2 * HOURS * PRICES.natGatewayHour }
      : {
          how: "a t4g.nano at $0.0042 an hour, and its disk",
          dollars: HOURS * PRICES.natInstanceHour + PRICES.natInstanceDiskMonth,
        };
  return [
    { item: "NAT", ...nat },
    {
      item: "public IPv4 addresses",
      how: `${addresses} × $0.005 an hour`,
      dollars: addresses * HOURS * PRICES.addressHour,
    },
    { item: "the VPC's name service", how: "a hosted zone", dollars: PRICES.hostedZoneMonth },
  ];
};

/** An exit is a small machine of the same type as a NAT instance, with an address. */
const listExitItems = ({ exits }: Settings): readonly Item[] =>
  exits === 0
    ? []
    : [
        {
          item: "exits",
          how: `${exits} × a t4g.nano, its disk and its address`,
          dollars:
            exits *
            (HOURS * (PRICES.natInstanceHour + PRICES.addressHour) + PRICES.natInstanceDiskMonth),
        },
      ];

const listKeyItems = ({ size }: Settings): readonly Item[] =>
  size === "full"
    ? [{ item: "a key for the settings", how: "1", dollars: PRICES.encryptionKeyMonth }]
    : [];

/** Dollars a month of 730 hours, before the first request. */
export const listIdleCosts = (settings: Settings): readonly Item[] => {
  const { alarms, metrics } = ALARMS[settings.size];
  return [
    ...listNetworkItems(settings),
    ...listExitItems(settings),
    ...listKeyItems(settings),
    {
      item: "alarms, by the metrics in them",
      how: `${metrics} metrics in ${alarms} alarms × $0.10`,
      dollars: metrics * PRICES.alarmMetricMonth,
    },
    {
      item: "our own metrics",
      how: "7 gauges and cold starts × $0.30",
      dollars: IDLE_METRICS * PRICES.ownMetricMonth,
    },
    { item: "dashboard of CloudWatch", how: "1", dollars: PRICES.dashboardMonth },
    {
      item: "empty queues, which Lambda asks all the time",
      how: "18 × 5 connections × 3 a minute, $0.40 a million",
      dollars: QUEUES_IDLE_MONTH,
    },
    {
      item: "schedules",
      how: "88,330 runs of 0.2 s at half a gigabyte, and reads",
      dollars: SCHEDULES_MONTH,
    },
  ];
};

export const sumIdleCosts = (settings: Settings): number =>
  listIdleCosts(settings).reduce((sum, { dollars }) => sum + dollars, 0);

/** Dollars for a million of a flow of `npm run bench cost`, by the beginning of its name. */
export const readCostOfMillion = (flow: string): number => {
  const results = JSON.parse(readFileSync("bench/results.json", "utf8")) as readonly {
    readonly name: string;
    readonly tables?: readonly { readonly lines: readonly string[] }[];
  }[];
  const { tables } = results.find(({ name }) => name === "cost") ?? {};
  const line = tables?.[0]?.lines.find((one) => one.startsWith(flow));
  return Number(/\$([\d.]+)$/.exec(line ?? "")?.[1]) * 1_000;
};
