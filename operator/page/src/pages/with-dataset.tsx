import type { ComponentChildren } from "preact";
import { Notice } from "../components/notice";
import { useLive } from "../live/live";
import { type Found, findDataset } from "./find-dataset";
import { NotFoundPage } from "./not-found-page";

interface Props {
  readonly networkId: number;
  readonly dataset: string;
  readonly children: (found: Found) => ComponentChildren;
}

/** Renders its children once the dataset has been found. */
export function WithDataset({ networkId, dataset, children }: Props) {
  const { networks, error } = useLive();
  if (networks === null) {
    return (
      <div class="wide">
        {error ? (
          <Notice title={error.title} code={error.code}>
            {error.detail}
          </Notice>
        ) : (
          <p class="empty">Reading the chain …</p>
        )}
      </div>
    );
  }
  const found = findDataset(networks, networkId, dataset);
  return <>{found ? children(found) : <NotFoundPage what={`${dataset} on network ${networkId}`} />}</>;
}
