import { useEffect, useState } from "preact/hooks";

/** A part of a data point's page, as its heading's id. */
export type Section = "request" | "read";

/** The current view of the page. */
export type Route =
  | { readonly page: "home" }
  | { readonly page: "dataset"; readonly networkId: number; readonly dataset: string }
  | {
      readonly page: "point";
      readonly networkId: number;
      readonly dataset: string;
      readonly key: string;
      readonly section?: Section;
    }
  | { readonly page: "unknown" };

/** Parses `#/42/0x5Fb.../SPOTPX%2FETH-USD`, which may end with `/request` or `/read`. The path is in the fragment, so that any path can serve the page. */
export function parseRoute(fragment: string): Route {
  const parts = fragment.replace(/^#?\/?/, "").split("/");
  if (parts.length === 1 && parts[0] === "") return { page: "home" };
  const [network = "", dataset = "", key, section, ...more] = parts.map(decode);
  if (!/^[1-9]\d{0,15}$/.test(network) || !/^0x[0-9a-fA-F]{40}$/.test(dataset) || more.length > 0) {
    return { page: "unknown" };
  }
  const networkId = Number(network);
  if (!key) return { page: "dataset", networkId, dataset };
  if (section === undefined) return { page: "point", networkId, dataset, key };
  const isSection = section === "request" || section === "read";
  return isSection ? { page: "point", networkId, dataset, key, section } : { page: "unknown" };
}

export const datasetPath = (networkId: number, dataset: string) => `#/${networkId}/${dataset}`;

/** @param key In ASCII, or in hex after `0x`. */
export const pointPath = (networkId: number, dataset: string, key: string, section?: Section) =>
  [datasetPath(networkId, dataset), encodeURIComponent(key), section].filter(Boolean).join("/");

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
