/** An event with this status counts as a death (CONTRACT 1). */
export const deadStatus = "DETECTED_AS_DEAD";
/** The asset was found alive, perhaps after a death. */
export const aliveStatus = "DETECTED_AS_ALIVE";
