/** Numbers with a fixed code, for the review of apps and for tests: nothing is sent to them. */

export interface TestOtpSettings {
  /** Code by number; numbers may have a plus sign and spaces. */
  codes: Record<string, string>
  /** The codes are void from this moment on; undefined is never. */
  validUntil: Date | undefined
}

/**
 * Returns the look-up from a stored number (E.164 digits) to its fixed code at a moment, if it has one.
 * Throws for a number that is not E.164 or a code that is not made of digits.
 */
export function createTestOtps({ codes, validUntil }: TestOtpSettings) {
  const byPhone = new Map(Object.entries(codes).map(checked))

  return (phone: string, now: Date): string | undefined =>
    validUntil !== undefined && now >= validUntil ? undefined : byPhone.get(phone)
}

function checked([phone, code]: [string, string]): [string, string] {
  const digits = phone.replaceAll(' ', '').replace(/^\+/, '')
  if (!/^[1-9][0-9]{1,14}$/.test(digits) || !/^[0-9]+$/.test(code.trim()))
    throw new Error('AUTH_SMS_TEST_OTP: each entry is a number, a colon and a code of digits')
  return [digits, code.trim()]
}
