/** The status of a liveness event that counts as a death (CONTRACT 1). */
export const deadStatus = "DETECTED_AS_DEAD";
/** The status by which a later look found the asset alive, whatever was said before. */
export const aliveStatus = "DETECTED_AS_ALIVE";
