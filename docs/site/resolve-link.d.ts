export declare function isExternal(href: string): boolean;
export declare function resolveLink(document: string, href: string): { file: string; anchor: string };
