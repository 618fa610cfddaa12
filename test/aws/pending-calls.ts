let underWay = 0;

/** Whether some app waits for an emulator or a socket. In memory none ever does. */
export const isAnyCallPending = (): boolean => underWay > 0;

export const countCall = async <T>(call: () => Promise<T>): Promise<T> => {
  underWay++;
  try {
    return await call();
  } finally {
    underWay--;
  }
};

/** The other end of a pending call waits for this clock, so the clock may go on. */
export const countWait = async (wait: () => Promise<void>): Promise<void> => {
  underWay--;
  try {
    await wait();
  } finally {
    underWay++;
  }
};
