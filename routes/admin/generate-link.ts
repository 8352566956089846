import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { findUserByEmail } from '../../db/users/users.ts'
import { recordPreparation } from '../../modules/access/index.ts'
import { changedUserFields, recordAdminActionOnUser } from '../../modules/audit/index.ts'
import { generateLink, type LinkRequest } from '../../modules/credentials/index.ts'
import { readLinkContext } from '../../modules/flows/index.ts'
import { callBeforeUserCreatedIfNew, checkMetadataSize } from '../../modules/users/index.ts'
import { type AccessTokenClaims, subjectUserId } from '../../schemas/access-token.ts'
import { choices } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { validationFailed } from '../../schemas/errors.ts'
import { Metadata, normalizeEmail, RedirectQuery } from '../../schemas/fields.ts'
import { toUser, User } from '../../schemas/user.ts'

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

const LinkBody = Type.Object({
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
  admin: AccessTokenClaims | null
}

/**
 * Normalizes the request, hashes a new user's password, and obtains the permit. Throws validation_failed,
 * metadata_too_large, weak_password or HookError.
 */
async function readLinkRequest(
  app: FastifyInstance,
  { body, audience: aud, clientIp: ip, admin }: LinkRequestInput,
): Promise<LinkRequest> {
  checkMetadataSize(app, { user_metadata: body.data })
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
    passwordHash: type === 'signup' ? await hashPassword(app, body.password) : null,
    data,
    madeBy: subjectUserId(admin) ?? null,
    permit: creating.includes(type)
      ? await callBeforeUserCreatedIfNew(app, app.db, { contact, aud, data }, ip)
      : undefined,
  }
}

function readType(text: string): LinkRequest['type'] {
  const type = types.find((known) => known === text)
  if (!type) throw validationFailed(`Invalid email action link type requested: ${text}`)
  return type
}

async function hashPassword(
  { passwords }: FastifyInstance,
  password: string | undefined,
): Promise<string> {
  if (!password) throw validationFailed('Signup requires a valid password')
  await passwords.checkStrength(password)
  return passwords.hash(password)
}

const GeneratedLink = Type.Object({
  ...User.properties,
  action_link: Type.String({ description: 'To be delivered to the user' }),
  email_otp: Type.String({ description: 'The code, which verifies like the link' }),
  hashed_token: Type.String({ description: 'The token of the link' }),
  verification_type: Type.String(),
  redirect_to: Type.String(),
})

const generateLinkRoute: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/admin/generate_link',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Generate an email link without sending it',
        description:
          'No email is sent. signup, invite and magiclink create the user if the address is unknown.',
        tags: ['admin'],
        querystring: RedirectQuery,
        body: LinkBody,
        response: { 200: GeneratedLink, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const linkRequest = await readLinkRequest(app, request)
      const context = readLinkContext(app, request, {}, request.body.redirect_to)
      const { user, link, type } = await db.transaction().execute(async (trx) => {
        const subject = await findUserByEmail(trx, linkRequest.email, linkRequest.aud)
        await bearerAuth.reauthorizeAdmin(trx, request, now, subject)
        const before = await findUserByEmail(trx, linkRequest.email, linkRequest.aud)
        const made = await generateLink(app, trx, linkRequest, context, now)
        await recordPreparation(trx, request, { before, after: made.user }, now)
        const changes = changedUserFields(before, made.user)
        const traits = { now, link_type: made.type, ...changes }
        await recordAdminActionOnUser(audit, trx, made.action, request, made.user, traits)
        return made
      })
      return {
        ...toUser(user),
        action_link: link.url,
        email_otp: link.code,
        hashed_token: link.tokenHash,
        verification_type: type,
        redirect_to: context.redirectTo,
      }
    },
  )
}

export default generateLinkRoute
