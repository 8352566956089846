import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../../../errors.ts'
import type { LinkRequest } from '../../../plugins/accounts/otp-requests/admin-links.ts'
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

export const LinkBody = Type.Object({
  type: Type.String({ description: types.join(', ') }),
  email: Type.String(),
  new_email: Type.Optional(Type.String({ description: 'For the email_change types' })),
  password: Type.Optional(Type.String({ description: 'For signup' })),
  data: Type.Optional(Metadata),
  redirect_to: Type.Optional(Type.String()),
})

/** Normal forms, and the hash of a new person's password. Throws validation_failed, metadata_too_large or weak_password. */
export async function readLinkRequest(
  house: House<'passwords' | 'users'>,
  { body, audience: aud }: { body: Static<typeof LinkBody>; audience: string },
): Promise<LinkRequest> {
  house.users.checkMetadata({ user_metadata: body.data })
  const type = readType(body.type)
  const changesEmail = type === 'email_change_current' || type === 'email_change_new'
  return {
    type,
    email: normalizeEmail(body.email),
    newEmail: changesEmail ? normalizeEmail(body.new_email ?? '') : '',
    aud,
    passwordHash: type === 'signup' ? await hashPassword(house, body.password) : null,
    data: body.data ?? {},
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
