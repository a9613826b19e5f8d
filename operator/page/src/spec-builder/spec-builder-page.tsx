import type { NetworkOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import type { SpecTrial } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { useMemo, useState } from "preact/hooks";
import { HaltedUpdatesWarning } from "../components/halted-updates-warning";
import { PageHeading } from "../components/page-heading";
import { networkName } from "../format/network-and-dataset-names";
import type { NetworkAndDataset } from "../live/overview-state";
import { useOverview } from "../live/overview-state";
import { RequestSection } from "../request/request-section";
import { AdviceSection } from "./advice-section";
import "./spec-builder.css";
import { PublishSection } from "./publish-section";
import {
  draftToText,
  EMPTY_DRAFT,
  EXAMPLE_ARGUMENTS,
  EXAMPLE_DRAFT,
  parseDraft,
  type SpecDraft,
  scaleOf,
  valueTypeOf,
} from "./spec-draft";
import { SpecEditor } from "./spec-editor";
import { ProblemsContext } from "./spec-field";
import { TrialSection } from "./trial-section";
import { useTrial } from "./use-trial";

/** Builds a request spec: describes a value, tries it, samples it, publishes it, and asks for its first value. */
export default function SpecBuilderPage({ network }: { network: NetworkOverview }) {
  const [text, setText] = useState(() => draftToText(EMPTY_DRAFT));
  const parsed = useMemo(() => parseDraft(text), [text]);
  const draft = parsed.ok ? parsed.value : EMPTY_DRAFT;
  const kind = valueTypeOf(draft) === "uint" ? "median" : "majority";
  const dataset = network.datasets.find((one) => one.key_form === "WEB_ORACLE" && one.kind === kind);
  return (
    <>
      <PageHeading name="Build a request spec">
        {networkName(network.network_id)}, network {network.network_id}
      </PageHeading>
      <HaltedUpdatesWarning network={network} datasets={dataset ? [dataset] : []} />
      {dataset ? (
        <Steps network={network} dataset={dataset} text={text} parsed={parsed} onText={setText} />
      ) : (
        <>
          <SpecEditor text={text} parsed={parsed} onText={setText} />
          <p class="empty">
            This operator serves no Web Oracle dataset for values of this type. Choose another type, or use another
            operator.
          </p>
        </>
      )}
    </>
  );
}

/** Returns the format of the values of a spec that was tried. */
function formatOf({ type }: SpecTrial, draft: SpecDraft): ValueFormat {
  const { symbol = null, decimals = scaleOf(draft) ?? 0 } = draft.unit ?? {};
  const isHashed = type === "string" && draft.sources?.[0]?.hash === true;
  return {
    title: String(draft.title),
    type: isHashed ? "bytes32" : type,
    decimals: Number(decimals),
    unit: symbol === null ? null : String(symbol),
    sources: [],
  };
}

interface StepsProps extends NetworkAndDataset {
  readonly text: string;
  readonly parsed: ReturnType<typeof parseDraft>;
  readonly onText: (text: string) => void;
}

function Steps({ network, dataset, text, parsed, onText }: StepsProps) {
  const overview = useOverview();
  const draft = parsed.ok ? parsed.value : EMPTY_DRAFT;
  const [args, setArgs] = useState<readonly string[]>([]);
  const { tried, run } = useTrial({ network, dataset }, draft, args);
  const [published, setPublished] = useState<readonly string[]>([]);
  const trial = tried.isCurrent && parsed.ok ? tried.trial : null;
  const hash = trial?.spec_hash;
  const isPublished =
    hash !== undefined && (published.includes(hash) || dataset.specs.some((spec) => spec.spec_hash === hash));
  const [key, setKey] = useState({ of: "", text: "" });
  const keyText = trial !== null && key.of !== trial.key ? trial.key : key.text;
  const onPublished = () => {
    if (hash !== undefined) setPublished((before) => [...before, hash]);
    overview.refresh();
  };
  const fillInExample = () => {
    onText(draftToText(EXAMPLE_DRAFT));
    setArgs(EXAMPLE_ARGUMENTS);
  };
  return (
    <ProblemsContext.Provider value={tried.problems}>
      <SpecEditor text={text} parsed={parsed} onText={onText} {...(network.simulated && { fillInExample })} />
      <TrialSection
        network={network}
        dataset={dataset}
        draft={draft}
        isJson={parsed.ok}
        args={args}
        onArgs={setArgs}
        tried={tried}
        onTry={() => void run()}
      />
      <AdviceSection network={network} dataset={dataset} draft={draft} isJson={parsed.ok} args={args} />
      <PublishSection
        network={network}
        draft={draft}
        trial={trial}
        isPublished={isPublished}
        onPublished={onPublished}
      />
      {isPublished && trial && (
        <RequestSection
          network={network}
          dataset={dataset}
          text={keyText}
          {...(keyText.startsWith(`WEB/${trial.spec_hash.slice(2)}`) && { format: formatOf(trial, draft) })}
          onText={(typed) => setKey({ of: trial.key, text: typed })}
          onStored={overview.refresh}
        />
      )}
    </ProblemsContext.Provider>
  );
}
