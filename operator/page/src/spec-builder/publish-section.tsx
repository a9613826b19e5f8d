import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import type { SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { useMemo } from "preact/hooks";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { Notice } from "../components/notice";
import { networkName } from "../format/network-and-dataset-names";
import { WalletSection } from "../wallet/wallet-section";
import { isTrialOfDraft } from "./is-trial-of-draft";
import type { SpecDraft } from "./spec-draft";

interface Props {
  readonly network: NetworkOverview;
  readonly draft: SpecDraft;
  /** The trial of the draft as it is now; null if there is none. */
  readonly trial: SpecTrial | null;
  readonly isPublished: boolean;
  readonly onPublished: () => void;
}

const WORDS = {
  mined: "The spec is published.",
  overtaken: "The transaction was mined, but it did not publish this spec.",
  reverted: "The registry rejected the spec.",
  afterRevert: "Try the spec again, and publish what the trial returns.",
};

/** Publishes the spec that was tried: in the bytes that the provider's engine made of it. */
export function PublishSection({ network, draft, trial, isPublished, onPublished }: Props) {
  return (
    <section class="card" aria-labelledby="publish">
      <h2 id="publish">4. Publish it</h2>
      <Content network={network} draft={draft} trial={trial} isPublished={isPublished} onPublished={onPublished} />
    </section>
  );
}

function Content({ network, draft, trial, isPublished, onPublished }: Props) {
  const { web_oracle_registry: registry, network_id: chainId } = network;
  const isSame = useMemo(() => trial !== null && isTrialOfDraft(trial, draft), [trial, draft]);
  if (registry === null) {
    return (
      <p class="empty">
        This operator knows no registry of request specs on {networkName(chainId)}. Publish through another operator.
      </p>
    );
  }
  if (trial === null) return <p class="empty">Try the spec first. Only a spec that was tried can be published here.</p>;
  if (!isSame) {
    return (
      <Notice tone="bad" title="The trial is not of this spec.">
        The bytes that the operator returned do not match your spec. Do not publish them; use another operator.
      </Notice>
    );
  }
  const data = encodeFunctionData({
    abi: webOracleRegistryAbi,
    functionName: "publish",
    args: [trial.spec_bytes as Hex],
  });
  const transaction = { chainId, to: registry as Address, data, value: 0n } as const;
  return (
    <>
      <p class="quiet">
        {isPublished
          ? "This spec is published on this network. Publishing it again changes nothing."
          : "Anyone can publish a spec, once and for all: nobody can change or withdraw it. The page has verified that this transaction publishes exactly this spec. It costs gas and nothing else."}
      </p>
      <WalletSection
        verb="Publish"
        transaction={transaction}
        specHash={trial.spec_hash as Hex}
        words={WORDS}
        onMined={onPublished}
      />
    </>
  );
}
