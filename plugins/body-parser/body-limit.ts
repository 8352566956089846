/** Bytes; a longer body is refused with 413 before it is read to its end. */
export const bodyLimit = 1_048_576
