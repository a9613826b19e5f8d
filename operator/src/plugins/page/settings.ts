import { BASE_URL_PATTERN } from "@dataset-oracle/protocol/base-url";
import { type Static, Type } from "@sinclair/typebox";

/** The settings of one network. */
export const pageSettings = {
  simulated: Type.Boolean({
    default: false,
    description: "True for a development network whose values are simulated: the page then says so.",
  }),
  explorerUrl: Type.Optional(
    Type.String({
      pattern: BASE_URL_PATTERN,
      description: "The base URL of the network's block explorer: the page links to <url>/address, /tx and /block.",
    }),
  ),
  historyBlocks: Type.Integer({
    minimum: 1,
    maximum: 10_000_000,
    default: 100_000,
    description:
      "The maximum number of blocks that one GET /history request may cover, and how far back events are looked for.",
  }),
};

const PageSettings = Type.Object(pageSettings);
export type PageSettings = Static<typeof PageSettings>;

/** What the page has to know of a network. */
export interface PagePlan {
  readonly chainId: number;
  readonly settings: PageSettings & {
    readonly providers: readonly { readonly name?: string; readonly address: string }[];
  };
}
