/** Credits are whole half-credits: the cheapest charge is 0.5 credit, and floats drift. */
export type Halves = number & { readonly unit: "half-credit" };

export const isHalves = (value: unknown): value is Halves => Number.isSafeInteger(value);

export const credits = (amount: number): Halves => {
  const halves = amount * 2;
  if (isHalves(halves)) return halves;
  throw new RangeError(`${amount} is not a multiple of 0.5 credit`);
};

export const toCredits = (amount: Halves): number => amount / 2;

/** Such as "1 credit" or "5 credits". */
export const formatCredits = (amount: Halves): string => {
  const amountOfCredits = toCredits(amount);
  return `${amountOfCredits} credit${amountOfCredits === 1 ? "" : "s"}`;
};
