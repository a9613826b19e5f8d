export const DEVNET: {
  readonly operator: string;
  readonly networkId: number;
  readonly lens: `0x${string}`;
  readonly provider: string;
  readonly datasets: Readonly<Record<"financial" | "webOracleNumber" | "webOracleBytes", `0x${string}`>>;
};
