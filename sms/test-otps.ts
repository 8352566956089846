/** Phone numbers with a fixed code, for app reviews and tests; no SMS is sent to them. */

interface TestOtpSettings {
  /** Code by number (E.164 digits without the plus sign). */
  codes: Record<string, string>
  /** The codes expire then; undefined: never. */
  validUntil: Date | undefined
}

/** Returns a function that looks up the fixed code of a number. */
export function createTestOtps({ codes, validUntil }: TestOtpSettings) {
  const byPhone = new Map(Object.entries(codes))

  return (phone: string, now: Date): string | undefined =>
    validUntil !== undefined && now >= validUntil ? undefined : byPhone.get(phone)
}
