/** Once an attack has got through this often, no more details of it are printed. */
const MAX_DETAILS = 5;
const MAX_DETAIL_LENGTH = 600;

/** Counts how often one attack was tried, and how often it got through. */
export class Tally {
  tried = 0;
  gotThrough = 0;
  seconds = 0;
  readonly start = performance.now();

  constructor(
    readonly name: string,
    readonly say: (text: string) => void,
  ) {}

  attempt(times = 1): void {
    this.tried += times;
  }

  note(text: string): void {
    this.say(`  ${text}`);
  }

  /** @param detail The observation which shows that the attack got through. */
  breach(detail: string, times = 1): void {
    if (this.gotThrough < MAX_DETAILS) this.say(`  through: ${detail.slice(0, MAX_DETAIL_LENGTH)}`);
    this.gotThrough += times;
  }
}

/** Shows progress on stderr, and a table of all attacks on stdout. */
export class Results {
  readonly #tallies: Tally[] = [];

  get isClean(): boolean {
    return this.#tallies.every(({ gotThrough }) => gotThrough === 0);
  }

  say(text: string): void {
    console.error(text);
  }

  begin(name: string): Tally {
    this.say(name);
    const tally = new Tally(name, this.say);
    this.#tallies.push(tally);
    return tally;
  }

  end(tally: Tally): void {
    tally.seconds = (performance.now() - tally.start) / 1_000;
    this.say(`  tried ${tally.tried}, through ${tally.gotThrough} (${tally.seconds.toFixed(1)} s)`);
  }

  print(): void {
    console.log("| attack | tried | through | seconds |\n|---|---|---|---|");
    for (const { name, tried, gotThrough, seconds } of this.#tallies) {
      console.log(`| ${name} | ${tried} | ${gotThrough} | ${seconds.toFixed(1)} |`);
    }
    const open = this.#tallies.filter(({ gotThrough }) => gotThrough > 0).map(({ name }) => name);
    console.log(open.length === 0 ? "\nNothing got through." : `\nThese attacks got through: ${open.join(", ")}.`);
  }
}
