/** The status of a liveness event that counts as a death (CONTRACT 1). */
export const deadStatus = "DETECTED_AS_DEAD";
/** The status of an asset that was found alive, also after it was called dead. */
export const aliveStatus = "DETECTED_AS_ALIVE";
