import {
  isInNetwork,
  type Lambda,
  lambdas,
  queues,
  routes,
  scheduleSpecs,
  workerSpecs,
} from "./topology.ts";

// Draws a deployment for the README and the docs, with the parts and their numbers from the topology.

type Box = {
  readonly at: readonly [column: number, row: number];
  readonly title: string;
  readonly lines: readonly string[];
  /** True for a part that is not ours or that not every stage has. */
  readonly isDashed?: true;
};

const WIDTH = 1120;
const BOX = { width: 236, height: 96, left: 36, top: 84, gapX: 38, gapY: 44 };

const count = (some: readonly unknown[], thing: string): string => `${some.length} ${thing}`;

const talksToMailServers = lambdas
  .filter(isInNetwork)
  .map(({ name }) => name.replace(/^Worker/, ""));
const own = queues.filter(({ receivesMax }) => receivesMax !== null);
const sumReserved = (some: readonly Lambda[]): number =>
  some.reduce((sum, { reserved }) => sum + (reserved ?? 0), 0);

const BOXES = {
  callers: {
    at: [0, 0],
    title: "Callers",
    lines: ["HTTP/JSON, MCP, the dashboard"],
    isDashed: true,
  },
  front: {
    at: [0, 1],
    title: "CloudFront, if wanted",
    lines: ["a host name for the dashboard", "and the API; AWS WAF"],
    isDashed: true,
  },
  schedules: {
    at: [0, 2],
    title: "EventBridge Scheduler",
    lines: [count(scheduleSpecs, "schedules"), "sweeps, gauges, the audit"],
  },
  gateway: {
    at: [1, 0],
    title: "API Gateway",
    lines: [count(routes, "routes"), "access log without addresses"],
  },
  endpoints: {
    at: [1, 1],
    title: "Lambda, one a route",
    lines: [count(routes, "functions on arm64"), "the last also has the dashboard"],
  },
  workers: {
    at: [1, 2],
    title: "Lambda, one a queue",
    lines: [
      count(workerSpecs, "functions"),
      `up to ${sumReserved(workerSpecs.map(({ lambda }) => lambda))} at once`,
    ],
  },
  state: {
    at: [2, 0],
    title: "DynamoDB and S3",
    lines: ["one table, recoverable", "files, by presigned links"],
  },
  network: {
    at: [2, 1],
    title: "VPC, or exits",
    lines: [talksToMailServers.join(", "), "fixed addresses, or SOCKS5"],
  },
  queues: {
    at: [2, 2],
    title: "SQS",
    lines: [`${count(own, "queues")}, fair by account`, "each with its dead letters"],
  },
  watch: {
    at: [3, 0],
    title: "CloudWatch, by CDK",
    lines: ["alarms, a dashboard, a budget", "SNS calls the operator"],
  },
  mail: { at: [3, 1], title: "Mail servers", lines: ["port 25, politely"], isDashed: true },
  feedback: {
    at: [3, 2],
    title: "SNS and SES, if wanted",
    lines: ["bounces and complaints,", "mail tests and reports"],
    isDashed: true,
  },
} as const satisfies Readonly<Record<string, Box>>;

type Name = keyof typeof BOXES;
const ARROWS: readonly (readonly [from: Name, to: Name])[] = [
  ["callers", "gateway"],
  ["callers", "front"],
  ["front", "gateway"],
  ["gateway", "endpoints"],
  ["endpoints", "state"],
  ["endpoints", "network"],
  ["endpoints", "queues"],
  ["queues", "workers"],
  ["workers", "network"],
  ["schedules", "workers"],
  ["network", "mail"],
  ["feedback", "queues"],
];

const place = ({ at: [column, row] }: Box) => ({
  x: BOX.left + column * (BOX.width + BOX.gapX),
  y: BOX.top + row * (BOX.height + BOX.gapY),
});

const drawBox = (box: Box): string => {
  const { x, y } = place(box);
  const dash = box.isDashed ? ' stroke-dasharray="5 4"' : "";
  const lines = box.lines.map(
    (line, index) => `<text x="${x + 16}" y="${y + 54 + 20 * index}" class="line">${line}</text>`,
  );
  return `<rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="10" class="box"${dash}/>
<text x="${x + 16}" y="${y + 30}" class="title">${box.title}</text>
${lines.join("\n")}`;
};

/** The arrow begins at the middle of the side that faces the other box. */
const drawArrow = ([from, to]: readonly [Name, Name]): string => {
  const [a, b] = [place(BOXES[from]), place(BOXES[to])];
  const [dx, dy] = [Math.sign(b.x - a.x), Math.sign(b.y - a.y)];
  const start =
    dx === 0
      ? [a.x + BOX.width / 2, dy > 0 ? a.y + BOX.height : a.y]
      : [dx > 0 ? a.x + BOX.width : a.x, a.y + BOX.height / 2];
  const end =
    dx === 0
      ? [b.x + BOX.width / 2, dy > 0 ? b.y : b.y + BOX.height]
      : [dx > 0 ? b.x : b.x + BOX.width, b.y + BOX.height / 2];
  return `<line x1="${start[0]}" y1="${start[1]}" x2="${end[0]}" y2="${end[1]}" class="arrow" marker-end="url(#head)"/>`;
};

const HEIGHT = BOX.top + 3 * BOX.height + 2 * BOX.gapY + 36;

export const drawDeployment =
  (): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">Mailproof on AWS: ${Object.values(BOXES)
    .map(({ title, lines }) => `${title} (${lines.join(", ")})`)
    .join("; ")}.</title>
<style>
text { font-family: system-ui, sans-serif; fill: #1b2430; }
.heading { font-size: 22px; font-weight: 600; }
.title { font-size: 15px; font-weight: 600; }
.line { font-size: 13px; fill: #4a5666; }
.box { fill: #f6f8fb; stroke: #8fa0b5; stroke-width: 1.5; }
.arrow { stroke: #5b6b80; stroke-width: 1.5; }
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#5b6b80"/></marker></defs>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${BOX.left}" y="46" class="heading">Mailproof on AWS: ${lambdas.length} Lambdas, one table</text>
${ARROWS.map(drawArrow).join("\n")}
${Object.values(BOXES).map(drawBox).join("\n")}
</svg>
`;
