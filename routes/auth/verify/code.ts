import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Db } from '../../../db/core/database.ts'
import { findUserByEmail, findUserByPhone, type UserRecord } from '../../../db/users/users.ts'
import { createAuditEntry } from '../../../modules/audit/index.ts'
import {
  consumeOtp,
  emailChangeHalfConfirmed,
  getPhoneTokenType,
  notifyOfFailure,
  setFirstPassword,
  type TokenVerification,
} from '../../../modules/credentials/index.ts'
import {
  type Attempt,
  pauseBeforeRejection,
  throttleAttempt,
  verifySmsOtp,
} from '../../../modules/otp/index.ts'
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { linkExpired, otpExpired } from '../../../schemas/errors.ts'
import type { VerifyBody } from '../../../schemas/verify.ts'
import { attemptFrom, type Offer, readOffer } from './offer.ts'

/** Verifies a typed code, or the token of a link, and creates a session. */
export function codeVerification(fastify: FastifyInstance) {
  const { db, hooks, otp, passwords, sessions } = fastify

  return async (body: VerifyBody, request: FastifyRequest, now: Date) => {
    const offer = readOffer(body, request.audience)
    const { password } = body
    if (password) await passwords.checkStrength(password)
    const target = attemptFrom(offer, request)
    const attempt = target && (await throttleAttempt(otp, db, target, now))

    const act = () => consume(fastify, offer, password, request, now)
    const outcome = attempt ? await attempt.check(db, act, isAccepted) : await act()
    if (outcome.state === 'rejected' && !attempt) throw linkExpired()
    if (outcome.state === 'rejected') {
      if (attempt?.isLastOfDay) hooks.later(() => notifyOwner(fastify, offer, attempt, now))
      await pauseBeforeRejection()
      throw otpExpired()
    }
    if (outcome.state === 'half') {
      return { msg: emailChangeHalfConfirmed, code: '200' as const }
    }
    const session = await toTokenResponse(sessions, outcome.opened, now)
    const isPhone = outcome.type === 'sms' || outcome.type === 'phone_change'
    return isPhone ? session : { ...session, type: outcome.type }
  }
}

/** Adds the result of verifying an SMS code at its provider; undefined for a type without SMS. */
async function withSmsResult(
  { db, otp }: FastifyInstance,
  offer: Offer,
  now: Date,
): Promise<TokenVerification | undefined> {
  if (!('phone' in offer)) return offer
  const type = getPhoneTokenType(offer.type)
  if (!type) return undefined
  return { ...offer, otpResult: await verifySmsOtp(otp, db, { ...offer, type }, now) }
}

/** Consumes the token; writes of a rejection are committed before it returns. */
async function consume(
  fastify: FastifyInstance,
  offer: Offer,
  password: string | undefined,
  request: FastifyRequest,
  now: Date,
) {
  const { audit, credentials, db, passwords, sessions } = fastify
  const presented = await withSmsResult(fastify, offer, now)
  if (!presented) return { state: 'rejected' as const }
  const hash = password && (await passwords.hash(password))
  const { clientInfo, clientIp } = request
  return db.transaction().execute(async (trx) => {
    const verified = await consumeOtp(credentials, trx, presented, now)
    if (verified.state !== 'done') return verified
    const { user, type, action } = verified
    const provider = 'phone' in presented ? 'phone' : 'email'
    if (hash) {
      await setFirstPassword(credentials, trx, { user, action }, { hash, by: provider }, now)
    }
    const entry = createAuditEntry(audit, action, user, clientIp, { provider })
    const bySms = provider === 'phone'
    const shown = { method: 'otp', clientInfo, audit: entry, bySms } as const
    const opened = await createSession(sessions, trx, user, shown, now)
    return { state: 'opened' as const, opened, type }
  })
}

/** Runs after the response, whose time must not depend on the owner. */
async function notifyOwner(
  { credentials, db }: FastifyInstance,
  offer: Offer,
  attempt: Attempt,
  now: Date,
): Promise<void> {
  const owner = await findOwner(db, offer)
  if (owner) await notifyOfFailure(credentials, db, owner, { attempt, isFactor: false }, now)
}

function findOwner(db: Db, offer: Offer): Promise<UserRecord | undefined> {
  if ('phone' in offer) return findUserByPhone(db, offer.phone, offer.aud)
  return findUserByEmail(db, offer.email ?? '', offer.aud ?? '')
}

function isAccepted({ state }: { state: string }): boolean {
  return state !== 'rejected'
}
