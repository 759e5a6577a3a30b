/** Characters that a slug may have, wherever it comes in: what is configured can then always be imported and posted, too. */
export const longestSlug = 256;
