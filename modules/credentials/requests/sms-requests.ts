/**
 * Sign-in codes by SMS for unauthenticated clients. Every number gets one, so it is sent immediately; a resent code is
 * for some numbers only and is sent by a worker (resend-sms.ts).
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { findUserByPhone } from '../../../db/users/users.ts'
import { recordAudit } from '../../audit/index.ts'
import {
  deliverSms,
  dryRunSms,
  isSmsQuotaExhausted,
  reserveSms,
  storeSms,
} from '../../otp/index.ts'
import type { SentCode, SmsChannel, SmsRequest } from '../../otp/sms-otp.ts'
import {
  callBeforeUserCreatedInConstantTime,
  dryRunPhoneOtp,
  findOrCreateUnconfirmedUser,
  lockUserByPhone,
  storePendingSignUp,
  verifyPhone,
} from '../../users/index.ts'
import type { CreationPermit, SignUpResult } from '../../users/sign-up/types.ts'

export interface SignInRequest {
  /** E.164 digits without the plus sign. */
  phone: string
  channel: SmsChannel
  /** False: no code for a number without an account. */
  createUser: boolean
  aud: string
  /** Metadata of a user whom this request signs up. */
  data: UserMetadata
  ip: string
  /** The network of the client. */
  network: string
}

/** A sent code with the permit for a new account. */
interface SignInCode {
  sent: SentCode
  permit: CreationPermit | undefined
}

/**
 * Sends a sign-in code. For a number that gets no account, sends nothing and takes the same time. Throws
 * over_sms_send_rate_limit, sms_send_failed or unexpected_failure.
 */
export async function sendSignInCode(
  app: FastifyInstance,
  db: Db,
  request: SignInRequest,
  now: Date,
): Promise<SignInCode | undefined> {
  const { phone, channel, aud: audience, data } = request
  const user = await findUserByPhone(db, phone, audience)
  const metadata = user ? user.raw_user_meta_data : data
  const purpose = { purpose: 'confirmation', interval: 'signup' } as const
  const recipient = { ...purpose, phone, channel, network: request.network }
  const smsRequest = { ...recipient, owner: { audience, metadata } }
  const permit = await requestPermit(app, db, request)
  const isSignUp = !user?.phone_confirmed_at
  const mayBeSent = await hasSignUpQuota(app, db, request, now)
  if (permit === 'rejected' || (isSignUp && !mayBeSent)) {
    await dryRunSms(app, db, { ...smsRequest, countsAs: 'sign_in', isCounted: false }, now)
    return undefined
  }
  return { sent: await send(app, db, smsRequest, isSignUp, now), permit }
}

/**
 * The quota of sign-ups must not reveal who has an account: without quota, a new number gets the response of a known
 * one and no message.
 */
async function hasSignUpQuota(
  app: FastifyInstance,
  db: Db,
  { phone, network }: SignInRequest,
  now: Date,
): Promise<boolean> {
  const claim = { purpose: 'confirmation', countsAs: 'signup', phone, network } as const
  return !(await isSmsQuotaExhausted(app, db, claim, now))
}

/** The request counts against the quota of sign-ins, for known and new numbers. */
async function send(
  app: FastifyInstance,
  db: Db,
  smsRequest: Omit<SmsRequest, 'countsAs'>,
  isSignUp: boolean,
  now: Date,
): Promise<SentCode> {
  await db
    .transaction()
    .execute((trx) => reserveSms(app, trx, { ...smsRequest, countsAs: 'sign_in' }, now))
  const countsAs = isSignUp ? 'signup' : 'sign_in'
  return deliverSms(app, db, { ...smsRequest, countsAs }, crypto.randomUUID(), now)
}

/** Undefined for a user who has an account and needs no permit. */
async function requestPermit(
  app: FastifyInstance,
  db: Db,
  request: SignInRequest,
): Promise<CreationPermit | 'rejected' | undefined> {
  const { phone, createUser, aud, ip } = request
  const maySignUp = createUser && !app.config.AUTH_DISABLE_SIGNUP
  if (maySignUp) return callBeforeUserCreatedInConstantTime(app, db, toSignUpContact(request), ip)
  return (await findUserByPhone(db, phone, aud)) ? undefined : 'rejected'
}

const toSignUpContact = ({ phone, aud, data }: SignInRequest) => ({
  aud,
  contact: { provider: 'phone' as const, address: phone },
  data,
})

/**
 * Stores the code for the owner of the number, or for a new user with it. Without a sent code, the same work is done
 * and rolled back.
 */
export async function acceptSignInCode(
  app: FastifyInstance,
  trx: Trx,
  request: SignInRequest,
  code: SignInCode | undefined,
  now: Date,
): Promise<void> {
  const { phone, aud, ip } = request
  if (!code) return dryRunPhoneOtp(app, trx, toSignUpContact(request), ip, now)
  const { sent, permit } = code
  const signedUp = await signUp(app, trx, request, permit, now)
  const user = signedUp?.user ?? (await lockUserByPhone(trx, phone, aud))
  // The user may have been deleted or have changed the number while the message was sent.
  if (!user) return
  await storeSms(app, trx, user.id, sent, now)
  if (signedUp) await storePendingSignUp(trx, signedUp, now)
  const action = signedUp ? 'user_confirmation_requested' : 'user_recovery_requested'
  await recordAudit(app.audit, trx, action, user, { ip, now })
}

/**
 * The number is unverified: the requester is signed up without a password, and the code verifies an existing account.
 */
async function signUp(
  app: FastifyInstance,
  trx: Trx,
  request: SignInRequest,
  permit: CreationPermit | undefined,
  now: Date,
): Promise<SignUpResult | undefined> {
  const applicant = toSignUpContact(request)
  const input = { ...applicant, passwordHash: null, permit, byAdmin: false }
  const registered = await findOrCreateUnconfirmedUser(app, trx, input, now)
  if (!registered || registered.claim || !app.config.AUTH_SMS_AUTOCONFIRM) return registered
  const otpResult = { assumedBy: 'autoconfirm', inMetadata: true } as const
  return { user: await verifyPhone(app, trx, registered.user.id, otpResult, now) }
}
