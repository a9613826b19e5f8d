export declare function linksOf(text: string): string[];
export declare function anchorsOf(text: string): string[];
export declare function imagesOf(text: string): string[];
