/** Returns null when the promise takes longer than `waitMs`. The work behind the promise goes on. */
export async function nullAfterTimeout<T>(promise: Promise<T | null>, waitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
