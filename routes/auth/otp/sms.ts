import type { FastifyRequest } from 'fastify'

import {
  acceptSignInCode,
  type SignInRequest,
  sendSignInCode,
} from '../../../modules/credentials/index.ts'
import { checkMetadataSize } from '../../../modules/users/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { phoneProviderDisabled } from '../../../schemas/errors.ts'
import { normalizePhone } from '../../../schemas/fields.ts'

interface Fields {
  phone?: string
  channel?: string
  create_user?: boolean
  data?: Record<string, unknown>
}

/** Parses a request for a code by SMS. Throws phone_provider_disabled, validation_failed or metadata_too_large. */
export function readSmsRequest(
  { config, sms, users }: Deps<'config' | 'sms' | 'users'>,
  { phone = '', channel, create_user: createUser = true, data = {} }: Fields,
  { audience: aud, clientIp: ip, sendingNetwork: network }: FastifyRequest,
): SignInRequest {
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Unsupported phone provider', 400)
  }
  checkMetadataSize(users, { user_metadata: data })
  return {
    phone: normalizePhone(phone),
    channel: sms.parseChannel(channel),
    createUser,
    aud,
    data,
    ip,
    network,
  }
}

/** Sends a sign-in code by SMS. Throws the errors of `sendSignInCode`. */
export async function sendSignInSms(
  { db, credentials }: Deps<'db' | 'credentials'>,
  request: SignInRequest,
  now: Date,
): Promise<void> {
  const code = await sendSignInCode(credentials, db, request, now)
  await db.transaction().execute((trx) => acceptSignInCode(credentials, trx, request, code, now))
}
