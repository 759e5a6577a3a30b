/** Input that no evaluation is defined for. A RangeError, not a FlatlineError: this room stands alone (`flatline/spike`). */
export class SpikeInputError extends RangeError {
  /** The name of the input that is wrong, as in the call. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = "SpikeInputError";
    this.field = field;
  }
}
