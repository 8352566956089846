import type { FastifyInstance, FastifyRequest } from 'fastify'

import { linkExpired, otpExpired, validationFailed } from '../../errors.ts'
import type { Proof } from '../../plugins/accounts/verifications.ts'
import { normalizeEmail, normalizePhone } from '../../schemas/fields.ts'
import type { VerifyBody } from '../../schemas/verify.ts'

/** A proof as it was typed. */
type Offer = Exclude<Proof, { phone: string }> | { type: string; phone: string; code: string }

const refused = { state: 'refused' } as const

/** A typed code, or a link's token that an app hands over itself, for a session. */
export function codeVerification(fastify: FastifyInstance) {
  const { codeThrottle, db, passwords, phoneProofs, sessions, verifications, audit } = fastify

  /** Which proof the body offers. Throws validation_failed for none or more than one. */
  function readProof(body: VerifyBody): Offer {
    const { type, token, token_hash, email, phone, redirect_to } = body
    if (!type) throw validationFailed('Verify requires a verification type')
    if (!token === !token_hash) {
      throw validationFailed('Verify requires either a token or a token hash')
    }
    if (token_hash) {
      if (email || phone || redirect_to) {
        throw validationFailed('Only the token_hash and type should be provided')
      }
      if (!verifications.isType(type)) throw validationFailed('Unsupported verification type')
      return { type, linkToken: token_hash }
    }
    if (!email === !phone) {
      throw validationFailed('Verify requires either an email or a phone number')
    }
    const code = (token ?? '').trim()
    if (email) return { type, email: normalizeEmail(email, 422), code }
    return { type, phone: normalizePhone(phone ?? ''), code }
  }

  /** With the word of whoever knows the code that was texted. */
  async function judged(offer: Offer, now: Date): Promise<Proof | undefined> {
    if (!('phone' in offer)) return offer
    const type = verifications.phoneTokenOf(offer.type)
    if (!type) return undefined
    return { ...offer, judgement: await phoneProofs.judge(db, { ...offer, type }, now) }
  }

  /** Spends the proof; what a refusal had to write is committed when this returns. */
  function spend(proof: Proof, password: string | undefined, request: FastifyRequest, now: Date) {
    const { client, clientIp } = request
    return db.transaction().execute(async (trx) => {
      const verified = await verifications.spend(trx, proof, now)
      if (verified.state !== 'done') return verified
      const { user, type, action } = verified
      if (password) await verifications.setFirstPassword(trx, user, password, now)
      const provider = 'phone' in proof ? 'phone' : 'email'
      const entry = audit.entry(action, user, clientIp, { provider })
      const opening = { method: 'otp' as const, client, audit: entry }
      const session = await sessions.issue(trx, user, opening, now)
      return { state: 'session' as const, session, type }
    })
  }

  return async (body: VerifyBody, request: FastifyRequest, now: Date) => {
    const offer = readProof(body)
    const { password } = body
    if (password) await passwords.checkStrength(password)
    const address = 'email' in offer ? offer.email : 'phone' in offer ? offer.phone : undefined
    const account = address && (await codeThrottle.enter(db, address, now))

    const proof = await judged(offer, now)
    const outcome = proof ? await spend(proof, password, request, now) : refused
    if (outcome.state === 'refused') {
      if (account) await account.failed()
      throw account ? otpExpired() : linkExpired()
    }
    if (account) await account.succeeded()
    if (outcome.state === 'half')
      return { msg: verifications.halfDoneMessage, code: '200' as const }
    const isPhone = outcome.type === 'sms' || outcome.type === 'phone_change'
    return isPhone ? outcome.session : { ...outcome.session, type: outcome.type }
  }
}
