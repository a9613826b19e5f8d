import { useEffect, useState } from "preact/hooks";

/** Returns this machine's time in seconds since 1970, updated every second. */
export function useNow(): number {
  const [now, setNow] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setNow(seconds()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const seconds = () => Math.floor(Date.now() / 1000);
