let underWay = 0;

/** Whether some app waits for an emulator. In memory none ever does. */
export const isAnyCallPending = (): boolean => underWay > 0;

export const countCall = async <T>(call: () => Promise<T>): Promise<T> => {
  underWay++;
  try {
    return await call();
  } finally {
    underWay--;
  }
};
