// A small CloudWatch: the state of an alarm from the figures that services publish. Written from AWS's description of
// alarms ("Alarm evaluation", "Configuring how CloudWatch alarms treat missing data"):
//
// - Each minute an alarm looks at the periods that end now, not at those of the clock.
// - It fetches more periods than it compares (here two more), and where some have no data it takes the latest that
//   have. Only if these are too few is missing data counted as the alarm says.
// - Alarms on DynamoDB's metrics ignore missing data, whatever they say.

/** So many observations of this value in this minute. */
export type Sample = { readonly minute: number; readonly value: number; readonly count?: number };

/** The samples of each metric: "AWS/Lambda Errors FunctionName=lambda/HttpGetJob". */
export type Figures = Readonly<Record<string, readonly Sample[]>>;

export type State = "OK" | "ALARM" | "INSUFFICIENT_DATA";

export type Query =
  | { readonly id: string; readonly metric: string; readonly statistic: string }
  | { readonly id: string; readonly expression: string };

export type Alarm = {
  readonly name: string;
  readonly queries: readonly Query[];
  /** The query whose value is compared. */
  readonly returned: string;
  readonly periodSeconds: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly threshold: number;
  readonly comparison: string;
  readonly missing: string;
};

type Value = number | undefined;

const EXTRA_PERIODS = 2;

/** The states at the end of each minute, as many as asked for. */
export const playAlarm = (alarm: Alarm, figures: Figures, minutes: number): readonly State[] => {
  const states: State[] = [];
  const values = new Map<number, Value>();
  const getValue = (end: number): Value => {
    if (!values.has(end)) values.set(end, computePoint(alarm, figures, end));
    return values.get(end);
  };
  let state: State = "OK";
  for (let minute = 1; minute <= minutes; minute++) {
    state = findState(alarm, getValue, minute, state);
    states.push(state);
  }
  return states;
};

const findState = (
  alarm: Alarm,
  getValue: (end: number) => Value,
  minute: number,
  before: State,
): State => {
  const { evaluationPeriods, datapointsToAlarm, periodSeconds } = alarm;
  const missing = alarm.queries.some(
    (one) => "metric" in one && one.metric.includes("AWS/DynamoDB"),
  )
    ? "ignore"
    : alarm.missing;
  // The latest first.
  const points = Array.from({ length: evaluationPeriods + EXTRA_PERIODS }, (_, back) =>
    getValue(minute - (back * periodSeconds) / 60),
  );
  const real = points.filter((one) => one !== undefined).slice(0, evaluationPeriods);
  const breaching = real.filter((one) => isBreaching(alarm, one)).length;
  const filled = evaluationPeriods - real.length;
  if (missing === "breaching" && breaching + filled >= datapointsToAlarm) return "ALARM";
  if (breaching >= datapointsToAlarm) return "ALARM";
  if (filled === 0 || missing === "breaching" || missing === "notBreaching") return "OK";
  if (real.length > breaching) return "OK";
  if (missing === "ignore") return before;
  return real.length === 0 ? "INSUFFICIENT_DATA" : "ALARM";
};

const COMPARISONS: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

const isBreaching = ({ comparison, threshold }: Alarm, value: number): boolean => {
  const compare = COMPARISONS[comparison];
  if (!compare) throw new Error(`there is no comparison ${comparison}`);
  return compare(value, threshold);
};

/** The value of the period that ended at this minute. */
const computePoint = (
  { queries, returned, periodSeconds }: Alarm,
  figures: Figures,
  end: number,
): Value => {
  const length = periodSeconds / 60;
  const isWithin = (sample: Sample) => sample.minute >= end - length && sample.minute < end;
  const getValue = (id: string): Value => {
    const query = queries.find((one) => one.id === id);
    if (!query) throw new Error(`there is no ${id}`);
    return "metric" in query
      ? computeStatistic((figures[query.metric] ?? []).filter(isWithin), query.statistic)
      : evaluateExpression(query.expression, getValue);
  };
  return getValue(returned);
};

const computeStatistic = (samples: readonly Sample[], statistic: string): Value => {
  if (samples.length === 0) return undefined;
  const count = samples.reduce((sum, one) => sum + (one.count ?? 1), 0);
  const sum = samples.reduce((total, one) => total + one.value * (one.count ?? 1), 0);
  const values = samples.map(({ value }) => value);
  if (statistic === "Sum") return sum;
  if (statistic === "SampleCount") return count;
  if (statistic === "Average") return sum / count;
  if (statistic === "Maximum") return Math.max(...values);
  if (statistic === "Minimum") return Math.min(...values);
  const [, percent] = /^p(\d+)$/.exec(statistic) ?? [];
  if (percent === undefined) throw new Error(`there is no statistic ${statistic}`);
  return findPercentile(samples, (count * Number(percent)) / 100);
};

const findPercentile = (samples: readonly Sample[], rank: number): Value => {
  let seen = 0;
  for (const { value, count = 1 } of samples.toSorted((a, b) => a.value - b.value)) {
    seen += count;
    if (seen >= rank) return value;
  }
  return undefined;
};

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|(\w+)|(>=|<=|[-+*/()<>,]))/y;

/** Metric math, as far as our alarms use it: arithmetic, comparisons, FILL with a number, and IF. */
const evaluateExpression = (expression: string, getValue: (id: string) => Value): Value => {
  const tokens = tokenize(expression);
  let at = 0;
  const take = (token: string): boolean => {
    if (tokens[at] !== token) return false;
    at++;
    return true;
  };
  const expect = (token: string): void => {
    if (!take(token)) throw new Error(`${expression}: ${token} is missing before ${tokens[at]}`);
  };
  const readLeft = (read: () => Value, signs: readonly string[]) => (): Value => {
    let left = read();
    for (;;) {
      const operator = signs.find(take);
      if (!operator) return left;
      left = apply(operator, left, read());
    }
  };
  const readArguments = (): readonly Value[] => {
    const values = [readAll()];
    while (take(",")) values.push(readAll());
    expect(")");
    return values;
  };
  const readOne = (): Value => {
    if (take("(")) {
      const value = readAll();
      expect(")");
      return value;
    }
    const token = tokens[at++] ?? "";
    if (/^\d/.test(token)) return Number(token);
    return take("(") ? call(token, readArguments()) : getValue(token);
  };
  const readProduct = readLeft(readOne, ["*", "/"]);
  const readSum = readLeft(readProduct, ["+", "-"]);
  const readComparison = readLeft(readSum, [">=", "<=", ">", "<"]);
  const readAll = (): Value => readComparison();
  const value = readAll();
  if (at < tokens.length) throw new Error(`${expression} does not end at ${tokens[at]}`);
  return value;
};

const tokenized = new Map<string, readonly string[]>();

const tokenize = (expression: string): readonly string[] => {
  const cached = tokenized.get(expression);
  if (cached) return cached;
  const tokens: string[] = [];
  tokenized.set(expression, tokens);
  const token = new RegExp(TOKEN);
  while (token.lastIndex < expression.trimEnd().length) {
    const at = token.lastIndex;
    const found = token.exec(expression);
    if (!found) throw new Error(`${expression} cannot be read from ${at}`);
    tokens.push(found[0].trim());
  }
  return tokens;
};

/** A period without a value has none in any sum; nor has one that divides by zero. */
const apply = (operator: string, left: Value, right: Value): Value => {
  if (left === undefined || right === undefined) return undefined;
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "/") return right === 0 ? undefined : left / right;
  if (operator === ">=") return Number(left >= right);
  if (operator === "<=") return Number(left <= right);
  return Number(operator === ">" ? left > right : left < right);
};

const call = (name: string, values: readonly Value[]): Value => {
  const [first, second, third] = values;
  if (name === "FILL") return first ?? second;
  if (name !== "IF") throw new Error(`metric math has no ${name} here`);
  if (first === undefined) return undefined;
  return first === 0 ? third : second;
};
