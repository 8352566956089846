import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { FastifyInstance, FastifyRequest } from 'fastify'

import { linkExpired, otpExpired } from '../../../errors.ts'
import type { Proof } from '../../../plugins/accounts/credentials/verification.ts'
import type { VerifyBody } from '../../../schemas/verify.ts'
import { guessIn, type Offer, readOffer } from './offer.ts'

/**
 * A wrong code takes up to a tenth of a millisecond longer where one was sent, because there is a row to read. In a
 * pause of random length that cannot be seen with as many guesses as an address allows.
 */
const longestPauseMs = 10

/** A typed code, or a link's token that an app hands over itself, for a session. */
export function codeVerification(fastify: FastifyInstance) {
  const { audit, credentials, db, otp, passwords, sessions } = fastify

  /** With the word of whoever knows the code that was texted; undefined for a type that no text message proves. */
  async function judged(offer: Offer, now: Date): Promise<Proof | undefined> {
    if (!('phone' in offer)) return offer
    const type = credentials.phoneTokenOf(offer.type)
    if (!type) return undefined
    return { ...offer, judgement: await otp.judgeSmsCode(db, { ...offer, type }, now) }
  }

  /** Spends the proof; what a refusal had to write is committed when this returns. */
  async function spend(
    offer: Offer,
    password: string | undefined,
    request: FastifyRequest,
    now: Date,
  ) {
    const proof = await judged(offer, now)
    if (!proof) return { state: 'refused' as const }
    const hash = password && (await passwords.hash(password))
    const { client, clientIp } = request
    return db.transaction().execute(async (trx) => {
      const verified = await credentials.spend(trx, proof, now)
      if (verified.state !== 'done') return verified
      const { user, type, action } = verified
      if (hash) await credentials.setFirstPassword(trx, user, hash, now)
      const provider = 'phone' in proof ? 'phone' : 'email'
      const entry = audit.entry(action, user, clientIp, { provider })
      const opened = await sessions.open(trx, user, { method: 'otp', client, audit: entry }, now)
      return { state: 'opened' as const, opened, type }
    })
  }

  return async (body: VerifyBody, request: FastifyRequest, now: Date) => {
    const offer = readOffer(fastify, body, request.audience)
    const { password } = body
    if (password) await passwords.checkStrength(password)
    const guess = guessIn(offer, request)
    const attempt = guess && (await otp.gate(db, guess, now))

    const act = () => spend(offer, password, request, now)
    const outcome = attempt ? await attempt.check(db, act, isAccepted) : await act()
    if (outcome.state === 'refused' && !attempt) throw linkExpired()
    if (outcome.state === 'refused') {
      await pause(randomInt(longestPauseMs + 1))
      throw otpExpired()
    }
    if (outcome.state === 'half') return { msg: credentials.halfDoneMessage, code: '200' as const }
    const session = await sessions.answer(outcome.opened, now)
    const isPhone = outcome.type === 'sms' || outcome.type === 'phone_change'
    return isPhone ? session : { ...session, type: outcome.type }
  }
}

function isAccepted({ state }: { state: string }): boolean {
  return state !== 'refused'
}
