export const DEVNET: {
  readonly operator: string;
  readonly networkId: number;
  readonly lens: string;
  readonly provider: string;
  readonly datasets: Readonly<Record<"financial" | "webOracleNumber" | "webOracleBytes", string>>;
};
