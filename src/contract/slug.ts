/** Maximum length of a slug in every input, so that a configured slug can always be imported and posted. */
export const longestSlug = 256;
