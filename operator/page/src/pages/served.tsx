import type { ComponentChildren } from "preact";
import { TroubleNote } from "../components/trouble-note";
import { useLive } from "../live/live";
import { type Found, findDataset } from "./find";
import { NotFoundPage } from "./not-found-page";

interface Props {
  readonly networkId: number;
  readonly dataset: string;
  readonly children: (found: Found) => ComponentChildren;
}

/** Shows what is in it once the dataset is known to be served. */
export function Served({ networkId, dataset, children }: Props) {
  const { networks, trouble } = useLive();
  if (networks === null) {
    return (
      <div class="wide">
        {trouble ? (
          <TroubleNote title={trouble.title} code={trouble.code}>
            {trouble.detail}
          </TroubleNote>
        ) : (
          <p class="empty">Reading the chain …</p>
        )}
      </div>
    );
  }
  const found = findDataset(networks, networkId, dataset);
  return <>{found ? children(found) : <NotFoundPage what={`${dataset} on network ${networkId}`} />}</>;
}
