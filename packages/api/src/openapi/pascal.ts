export const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);
