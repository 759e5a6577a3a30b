/** The limit of every input, so that a configured slug can be imported and posted. */
export const longestSlug = 256;
