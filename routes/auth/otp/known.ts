import { findUserByAnyEmail, findUserByPhone } from '../../../db/users.ts'
import { otpDisabled } from '../../../errors.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'

/** The client asked to be told: throws otp_disabled for an address that nobody has. */
export async function checkKnown(
  { db }: House<'db'>,
  { email, phone = '' }: { email?: string; phone?: string },
  aud: string,
): Promise<void> {
  const known = email
    ? await findUserByAnyEmail(db, readable(normalizeEmail, email), aud)
    : await findUserByPhone(db, readable(normalizePhone, phone), aud)
  if (!known) throw otpDisabled()
}

/** A malformed address is nobody's either. */
function readable(normalize: (input: string) => string, address: string): string {
  try {
    return normalize(address)
  } catch {
    throw otpDisabled()
  }
}
