import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface Tab {
  readonly name: string;
  readonly panel: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Shows one of several panels, chosen by pointer or arrow keys. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const go = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (chosen + step + tabs.length) % tabs.length;
    setChosen(next);
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div class="tabs">
      <div ref={list} role="tablist" aria-label={label} onKeyDown={go}>
        {tabs.map(({ name }, place) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${place}`}
            aria-controls={`${id}-panel`}
            aria-selected={place === chosen}
            tabIndex={place === chosen ? 0 : -1}
            onClick={() => setChosen(place)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>
        {tabs[chosen]?.panel}
      </div>
    </div>
  );
}
