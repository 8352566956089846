import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Db } from '../../../db/core/database.ts'
import { findUserByEmail, findUserByPhone, type UserRecord } from '../../../db/users/users.ts'
import { createAuditEntry } from '../../../modules/audit/index.ts'
import {
  consumeOtp,
  emailChangeHalfConfirmed,
  getPhoneTokenType,
  notifyOfFailure,
  requireLinkType,
  setFirstPassword,
  type TokenVerification,
} from '../../../modules/credentials/index.ts'
import {
  type Attempt,
  isPkceLink,
  pauseBeforeRejection,
  throttleAttempt,
  verifySmsOtp,
} from '../../../modules/otp/index.ts'
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { resolveUsernameAddress } from '../../../modules/usernames/index.ts'
import { linkExpired, otpExpired, validationFailed } from '../../../schemas/errors.ts'
import { normalizeEmailOfCode, normalizePhone } from '../../../schemas/fields.ts'
import { readTypedCode } from '../../../schemas/values/typed-code.ts'
import type { VerifyBody } from '../../../schemas/verify.ts'

/** Verifies a typed code, or the token of a link, and creates a session. */
export function codeVerification(app: FastifyInstance) {
  const { db, hooks, passwords } = app

  return async (body: VerifyBody, request: FastifyRequest, now: Date) => {
    const offer = await findOffer(app, body, request.audience)
    const { password } = body
    if (password) await passwords.checkStrength(password)
    const target = attemptFrom(offer, request)
    const attempt = target && (await throttleAttempt(app, db, target, now))

    const act = () => consume(app, offer, password, request, now)
    const outcome = attempt ? await attempt.check(db, act, isAccepted) : await act()
    if (outcome.state === 'rejected' && !attempt) throw linkExpired()
    if (outcome.state === 'rejected') {
      if (attempt?.isLastOfDay) hooks.later(() => notifyOwner(app, offer, attempt, now))
      await pauseBeforeRejection()
      throw otpExpired()
    }
    if (outcome.state === 'half') {
      return { msg: emailChangeHalfConfirmed, code: '200' as const }
    }
    const session = await toTokenResponse(app, outcome.opened, now)
    const isPhone = outcome.type === 'sms' || outcome.type === 'phone_change'
    return isPhone ? session : { ...session, type: outcome.type }
  }
}

/** Adds the result of verifying an SMS code at its provider; undefined for a type without SMS. */
async function withSmsResult(
  app: FastifyInstance,
  offer: Offer,
  now: Date,
): Promise<TokenVerification | undefined> {
  if (!('phone' in offer)) return offer
  const type = getPhoneTokenType(offer.type)
  if (!type) return undefined
  return { ...offer, otpResult: await verifySmsOtp(app, app.db, { ...offer, type }, now) }
}

/** Consumes the token; writes of a rejection are committed before it returns. */
async function consume(
  app: FastifyInstance,
  offer: Offer,
  password: string | undefined,
  request: FastifyRequest,
  now: Date,
) {
  const { audit, db, passwords } = app
  const presented = await withSmsResult(app, offer, now)
  if (!presented) return { state: 'rejected' as const }
  const hash = password && (await passwords.hash(password))
  const { clientInfo, clientIp } = request
  return db.transaction().execute(async (trx) => {
    const verified = await consumeOtp(app, trx, presented, now)
    if (verified.state !== 'done') return verified
    const { user, type, action } = verified
    const provider = 'phone' in presented ? 'phone' : 'email'
    if (hash) {
      await setFirstPassword(app, trx, { user, action }, { hash, by: provider }, now)
    }
    const entry = createAuditEntry(audit, action, user, clientIp, { provider })
    const bySms = provider === 'phone'
    const shown = { method: 'otp', clientInfo, audit: entry, bySms } as const
    const opened = await createSession(app, trx, user, shown, now)
    return { state: 'opened' as const, opened, type }
  })
}

/** Runs after the response, whose time must not depend on the owner. */
async function notifyOwner(
  app: FastifyInstance,
  offer: Offer,
  attempt: Attempt,
  now: Date,
): Promise<void> {
  const owner = await findOwner(app.db, offer)
  if (owner) await notifyOfFailure(app, app.db, owner, { attempt, isFactor: false }, now)
}

function findOwner(db: Db, offer: Offer): Promise<UserRecord | undefined> {
  if ('phone' in offer) return findUserByPhone(db, offer.phone, offer.aud)
  return findUserByEmail(db, offer.email ?? '', offer.aud ?? '')
}

function isAccepted({ state }: { state: string }): boolean {
  return state !== 'rejected'
}

/** The presented code or token. */
type Offer =
  | (Exclude<TokenVerification, { phone: string }> & {
      /** What the attempt counts for, if not the address. */
      account?: string
    })
  | { type: string; phone: string; aud: string; code: string }

/** Codes are short and numeric. */
const isLinkToken = (token: string) => /^(?:[0-9a-f]{56}$|[0-9a-f]{64}$|pkce_)/.test(token)

/** As `readOffer`, also for the username that a recovery was requested with. */
async function findOffer(
  { db, usernames }: Pick<FastifyInstance, 'db' | 'usernames'>,
  body: VerifyBody,
  aud: string,
): Promise<Offer> {
  const { username, type, token, token_hash, email, phone } = body
  if (!username || !usernames.rules) return readOffer(body, aud)
  if (email || phone) throw validationFailed('Send one of username, email and phone')
  if (type !== 'recovery') throw validationFailed('A username is accepted for type recovery only')
  if (!token || token_hash) throw validationFailed('A username requires a code as token')
  return {
    type,
    ...(await resolveUsernameAddress(db, username, aud)),
    aud,
    code: readTypedCode(token),
  }
}

/** Reads the code or token of the body. Throws validation_failed for none or more than one. */
function readOffer(body: VerifyBody, aud: string): Offer {
  const { type, token, token_hash, email, phone } = body
  if (!type) throw validationFailed('Verify requires a verification type')
  if (!token === !token_hash) {
    throw validationFailed('Verify requires either a token or a token hash')
  }
  if (token_hash && (email || phone)) {
    throw validationFailed('Only the token_hash and type should be provided')
  }
  const code = readTypedCode(token ?? '')
  if (isPkceLink(token_hash || code)) {
    throw validationFailed(
      'This token belongs to a PKCE link: open the link, and exchange the code with grant_type=pkce',
    )
  }
  if (token_hash || (!email && !phone && isLinkToken(code))) {
    requireLinkType(type)
    return { type, linkToken: token_hash || code }
  }
  if (!email === !phone) {
    throw validationFailed('Verify requires either an email or a phone number')
  }
  if (phone) return { type, phone: normalizePhone(phone), aud, code }
  const address = normalizeEmailOfCode(email ?? '')
  if (isLinkToken(code)) return { type, linkToken: code, email: address, aud }
  return { type, email: address, aud, code }
}

/** Codes are throttled by identifier; the token of a link is too long to guess. */
function attemptFrom(offer: Offer, { clientInfo }: FastifyRequest) {
  if ('linkToken' in offer) return undefined
  const kind = 'code' as const
  const { aud } = offer
  if ('email' in offer) {
    return {
      kind,
      account: offer.account ?? offer.email,
      device: { email: offer.email, aud, clientInfo },
    }
  }
  return { kind, account: offer.phone, device: { phone: offer.phone, aud, clientInfo } }
}
