/** Numbers with a fixed code, for the review of apps and for tests: nothing is sent to them. */

interface TestOtpSettings {
  /** Code by number (E.164 digits without the plus sign). */
  codes: Record<string, string>
  /** The codes are void from this moment on; undefined is never. */
  validUntil: Date | undefined
}

/** Returns the look-up from a number to its fixed code at a moment, if it has one. */
export function createTestOtps({ codes, validUntil }: TestOtpSettings) {
  const byPhone = new Map(Object.entries(codes))

  return (phone: string, now: Date): string | undefined =>
    validUntil !== undefined && now >= validUntil ? undefined : byPhone.get(phone)
}
