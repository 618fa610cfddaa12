export type Grade = "A" | "B" | "C" | "D" | "F";

export const GRADES: readonly (readonly [from: number, grade: Grade])[] = [
  [90, "A"],
  [80, "B"],
  [70, "C"],
  [60, "D"],
];

export const toGrade = (score: number): Grade => GRADES.find(([from]) => score >= from)?.[1] ?? "F";
