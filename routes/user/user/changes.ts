import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import type { Config } from '../../../config/groups/index.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Changes } from '../../../modules/users/index.ts'
import { phoneProviderDisabled } from '../../../schemas/errors.ts'
import {
  Channel,
  Metadata,
  normalizeEmail,
  normalizePhone,
  Phone,
  PkceFields,
} from '../../../schemas/fields.ts'

export const ChangeBody = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Phone,
  channel: Channel,
  password: Type.Optional(Type.String()),
  current_password: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String({ description: 'The code of GET /reauthenticate' })),
  data: Type.Optional(Metadata),
  app_metadata: Type.Optional(Metadata),
  ...PkceFields,
})
export type ChangeBody = Static<typeof ChangeBody>

/**
 * Normalizes the fields and checks password strength; an unchanged address is ignored. Throws validation_failed,
 * phone_provider_disabled or weak_password.
 */
export async function readUserChanges(
  { config, passwords, sms }: FastifyInstance,
  user: UserRecord,
  body: ChangeBody,
): Promise<Changes> {
  const { password, nonce, data, app_metadata } = body
  const email = body.email ? normalizeEmail(body.email) : undefined
  const given = body.phone ? normalizePhone(body.phone) : undefined
  const phone = given === user.phone ? undefined : given
  if (password !== undefined) await passwords.checkStrength(password)
  if (phone && !takesNumbers(config, sms)) {
    throw phoneProviderDisabled('Phone logins are disabled', 400)
  }
  return {
    email: email === user.email ? undefined : email,
    phone,
    password,
    nonce,
    data,
    app_metadata,
  }
}

/** Also when sign-in by phone is disabled, as in GoTrue, because the setting concerns sign-in only. */
function takesNumbers(
  { AUTH_EXTERNAL_PHONE_ENABLED, AUTH_SMS_AUTOCONFIRM }: Config,
  sms: FastifyInstance['sms'],
) {
  return AUTH_EXTERNAL_PHONE_ENABLED || AUTH_SMS_AUTOCONFIRM || sms.enabled
}
