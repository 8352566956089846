import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { linkExpired, otpExpired, validationFailed } from '../../errors.ts'
import type { Proof } from '../../plugins/accounts/verifications.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { normalizeEmail, normalizePhone } from '../../schemas/fields.ts'
import { Session } from '../../schemas/session.ts'

const Body = Type.Object({
  type: Type.Optional(Type.String()),
  token: Type.Optional(Type.String({ description: 'The code, as typed' })),
  token_hash: Type.Optional(Type.String({ description: 'The token of the link' })),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String({ description: 'Set when the user has none yet' })),
  redirect_to: Type.Optional(Type.String()),
})

const types = [
  'signup',
  'invite',
  'recovery',
  'magiclink',
  'email',
  'email_change',
  'sms',
  'phone_change',
]

const HalfDone = Type.Object({ msg: Type.String(), code: Type.Literal('200') })

const verify: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, db, passwords, rateLimits, sessions, verifications } = fastify

  fastify.post(
    '/verify',
    {
      config: { rateLimit: rateLimits.verify },
      schema: {
        summary: 'Exchange a one-time code or the token of a link for a session',
        tags: ['auth'],
        body: Body,
        response: { 200: Type.Union([Session, HalfDone]), ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const proof = readProof(request.body)
      const { password } = request.body
      if (password) await passwords.checkStrength(password)

      const outcome = await db.transaction().execute(async (trx) => {
        const verified = await verifications.spend(trx, proof, now)
        // A refused guess is counted, so the transaction has to end well before the refusal.
        if (verified.state !== 'done') return verified
        if (password) await verifications.setFirstPassword(trx, verified.user, password, now)
        const opening = { method: 'otp' as const, client: request.client }
        const session = await sessions.issue(trx, verified.user, opening, now)
        return { state: 'session' as const, session, type: verified.type }
      })
      if (outcome.state === 'refused') throw 'code' in proof ? otpExpired() : linkExpired()
      if (outcome.state === 'half') {
        return { msg: verifications.halfDoneMessage, code: '200' as const }
      }
      const isPhone = outcome.type === 'sms' || outcome.type === 'phone_change'
      return isPhone ? outcome.session : { ...outcome.session, type: outcome.type }
    },
  )

  /** Which proof the body offers: a code with the address it went to, or the token of a link. */
  function readProof(body: Static<typeof Body>): Proof {
    const { type, token, token_hash, email, phone, redirect_to } = body
    if (!type) throw validationFailed('Verify requires a verification type')
    if (!token === !token_hash) {
      throw validationFailed('Verify requires either a token or a token hash')
    }
    if (token_hash) {
      if (email || phone || redirect_to) {
        throw validationFailed('Only the token_hash and type should be provided')
      }
      if (!types.includes(type)) throw validationFailed('Unsupported verification type')
      return { type, linkToken: token_hash, aud: config.AUTH_JWT_AUD }
    }
    if (!email === !phone)
      throw validationFailed('Verify requires either an email or a phone number')
    const address = email ? normalizeEmail(email, 422) : normalizePhone(phone ?? '')
    return { type, address, code: (token ?? '').trim(), aud: config.AUTH_JWT_AUD }
  }
}

export default verify
