import { type Static, Type } from '@sinclair/typebox'

import type { LinkRequest } from '../../../modules/credentials/index.ts'
import { callBeforeUserCreatedIfNew, checkMetadataSize } from '../../../modules/users/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { choices } from '../../../schemas/documented.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { Metadata, normalizeEmail } from '../../../schemas/fields.ts'

const types = [
  'signup',
  'magiclink',
  'recovery',
  'invite',
  'email_change_current',
  'email_change_new',
] as const

/** Types that create an account for an unknown address. */
const creating: readonly LinkRequest['type'][] = ['signup', 'magiclink', 'invite']

export const LinkBody = Type.Object({
  type: Type.String(choices(...types)),
  email: Type.String(),
  new_email: Type.Optional(Type.String({ description: 'For the email_change types' })),
  password: Type.Optional(Type.String({ description: 'For signup' })),
  data: Type.Optional(Metadata),
  redirect_to: Type.Optional(Type.String()),
})

interface LinkRequestInput {
  body: Static<typeof LinkBody>
  audience: string
  clientIp: string
}

/**
 * Normalizes the request, hashes a new user's password, and obtains the permit. Throws validation_failed,
 * metadata_too_large, weak_password or HookError.
 */
export async function readLinkRequest(
  deps: Deps<'db' | 'passwords' | 'users'>,
  { body, audience: aud, clientIp: ip }: LinkRequestInput,
): Promise<LinkRequest> {
  checkMetadataSize(deps.users, { user_metadata: body.data })
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
    passwordHash: type === 'signup' ? await hashPassword(deps, body.password) : null,
    data,
    permit: creating.includes(type)
      ? await callBeforeUserCreatedIfNew(deps.users, deps.db, { contact, aud, data }, ip)
      : undefined,
  }
}

function readType(text: string): LinkRequest['type'] {
  const type = types.find((known) => known === text)
  if (!type) throw validationFailed(`Invalid email action link type requested: ${text}`)
  return type
}

async function hashPassword(
  { passwords }: Deps<'passwords'>,
  password: string | undefined,
): Promise<string> {
  if (!password) throw validationFailed('Signup requires a valid password')
  await passwords.checkStrength(password)
  return passwords.hash(password)
}
