import { phoneProviderDisabled } from '../../../errors.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { normalizePhone } from '../../../schemas/fields.ts'

interface Asked {
  phone?: string
  channel?: string
  data?: Record<string, unknown>
}

interface Asking {
  audience: string
  clientIp: string
}

/**
 * Texts a code to sign in with. Throws phone_provider_disabled, validation_failed or metadata_too_large, and what
 * `credentials.sendSignInCode` throws.
 */
export async function sendSignInSms(
  { config, db, credentials, sms, users }: House<'config' | 'db' | 'credentials' | 'sms' | 'users'>,
  { phone = '', channel, data = {} }: Asked,
  { audience: aud, clientIp: ip }: Asking,
  now: Date,
): Promise<void> {
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Unsupported phone provider', 400)
  }
  users.checkMetadata({ user_metadata: data })
  const asked = {
    phone: normalizePhone(phone),
    channel: sms.channelOf(channel),
    aud,
    data,
    ip,
  }
  const code = await credentials.sendSignInCode(db, asked, now)
  if (!code) return
  await db.transaction().execute((trx) => credentials.acceptSignInCode(trx, asked, code, now))
}
