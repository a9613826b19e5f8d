/** Returns the page of the operator's, the providers' and the sources' settings, in Markdown. */
export declare function configurationReference(): string;

/** Returns the tables of the fields of a request spec, which docs/WebOracle.md has: the spec's own, and those of its parts. */
export declare function specTables(): string[];
