/** The types that a request spec can give its value. */
export const VALUE_TYPES = ["uint", "bool", "bytes32", "string"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];
