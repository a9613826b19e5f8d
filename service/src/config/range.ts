/** Returns the bounds and the default of a setting that is a number, for its schema. */
export const range = (minimum: number, maximum: number, defaultValue: number) => ({
  minimum,
  maximum,
  default: defaultValue,
});
