let underWay = 0;

/** Whether some house waits for an emulator. In memory nobody ever does. */
export const isAnyCallPending = (): boolean => underWay > 0;

export const countCall = async <T>(call: () => Promise<T>): Promise<T> => {
  underWay++;
  try {
    return await call();
  } finally {
    underWay--;
  }
};
