import { useEffect, useState } from "preact/hooks";

/** The seconds since 1970, as this machine's clock has them, anew every second. */
export function useNow(): number {
  const [now, setNow] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setNow(seconds()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const seconds = () => Math.floor(Date.now() / 1000);
