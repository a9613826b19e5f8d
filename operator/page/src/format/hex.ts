export const shortHex = (hex: string) => `${hex.slice(0, 6)}…${hex.slice(-4)}`;
