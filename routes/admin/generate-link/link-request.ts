import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../../../errors.ts'
import type { LinkRequest } from '../../../plugins/accounts/credentials/requests/admin-links.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { Metadata, normalizeEmail } from '../../../schemas/fields.ts'

const types = [
  'signup',
  'magiclink',
  'recovery',
  'invite',
  'email_change_current',
  'email_change_new',
] as const

/** These make an account for an address that has none. */
const creating: readonly LinkRequest['type'][] = ['signup', 'magiclink', 'invite']

export const LinkBody = Type.Object({
  type: Type.String({ description: types.join(', ') }),
  email: Type.String(),
  new_email: Type.Optional(Type.String({ description: 'For the email_change types' })),
  password: Type.Optional(Type.String({ description: 'For signup' })),
  data: Type.Optional(Metadata),
  redirect_to: Type.Optional(Type.String()),
})

interface LinkAsking {
  body: Static<typeof LinkBody>
  audience: string
  clientIp: string
}

/**
 * Normal forms, the hash of a new person's password, and whether there may be one. Throws
 * validation_failed, metadata_too_large, weak_password or HookError.
 */
export async function readLinkRequest(
  house: House<'db' | 'passwords' | 'users'>,
  { body, audience: aud, clientIp: ip }: LinkAsking,
): Promise<LinkRequest> {
  house.users.checkMetadata({ user_metadata: body.data })
  const type = readType(body.type)
  const changesEmail = type === 'email_change_current' || type === 'email_change_new'
  const address = normalizeEmail(body.email)
  const { data = {} } = body
  const contact = { provider: 'email' as const, address }
  return {
    type,
    email: address,
    newEmail: changesEmail ? normalizeEmail(body.new_email ?? '') : '',
    aud,
    passwordHash: type === 'signup' ? await hashPassword(house, body.password) : null,
    data,
    approval: creating.includes(type)
      ? await house.users.approveIfNew(house.db, { contact, aud, data }, ip)
      : undefined,
  }
}

function readType(text: string): LinkRequest['type'] {
  const type = types.find((known) => known === text)
  if (!type) throw validationFailed(`Invalid email action link type requested: ${text}`)
  return type
}

async function hashPassword(
  { passwords }: House<'passwords'>,
  password: string | undefined,
): Promise<string> {
  if (!password) throw validationFailed('Signup requires a valid password')
  await passwords.checkStrength(password)
  return passwords.hash(password)
}
