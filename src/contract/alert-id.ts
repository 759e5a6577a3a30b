/** The first digits of an alert's id, as a person names it: at least four, and not all of them. */
export const beginOfAlertId = /^[0-9a-f][0-9a-f-]{3,34}$/;
/** More ids that begin alike are too many to choose from; four digits are one of 65,536. */
export const mostStartingAlike = 50;
