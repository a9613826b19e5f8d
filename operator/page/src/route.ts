import { useEffect, useState } from "preact/hooks";

/** The current view of the page. */
export type Route =
  | { readonly page: "home" }
  | { readonly page: "dataset"; readonly networkId: number; readonly dataset: string }
  | { readonly page: "point"; readonly networkId: number; readonly dataset: string; readonly key: string }
  | { readonly page: "unknown" };

/** Parses `#/42/0x5Fb.../SPOTPX%2FETH-USD`. The path is in the fragment, so that any path can serve the page. */
export function parseRoute(fragment: string): Route {
  const parts = fragment.replace(/^#?\/?/, "").split("/");
  if (parts.length === 1 && parts[0] === "") return { page: "home" };
  const [network = "", dataset = "", key, ...more] = parts.map(decode);
  if (!/^[1-9]\d{0,15}$/.test(network) || !/^0x[0-9a-fA-F]{40}$/.test(dataset) || more.length > 0) {
    return { page: "unknown" };
  }
  const networkId = Number(network);
  return key ? { page: "point", networkId, dataset, key } : { page: "dataset", networkId, dataset };
}

export const datasetPath = (networkId: number, dataset: string) => `#/${networkId}/${dataset}`;

/** @param key In ASCII, or in hex after `0x`. */
export const pointPath = (networkId: number, dataset: string, key: string) =>
  `${datasetPath(networkId, dataset)}/${encodeURIComponent(key)}`;

export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = () => setFragment(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return parseRoute(fragment);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
