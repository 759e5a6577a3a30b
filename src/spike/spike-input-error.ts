/** Input out of range. No FlatlineError, because this room stands alone (`flatline/spike`). */
export class SpikeInputError extends RangeError {
  /** The name of the wrong input, as in the call. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = "SpikeInputError";
    this.field = field;
  }
}
