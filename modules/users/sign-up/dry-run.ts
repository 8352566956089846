/**
 * The dry run of a sign-up for an identifier in use: the same statements run for an unused identifier and are rolled
 * back, so that the same code builds the response in the same time.
 */
import { randomInt } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { createSavepoint, rollbackToSavepoint } from '../../../db/core/savepoint.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { sendUncountedLinkEmail } from '../../emails/index.ts'
import { storeSms } from '../../otp/index.ts'
import type { EmailSignUp, SignUpContact, SignUpInput } from './types.ts'
import { createUnconfirmedUser } from './unconfirmed-user.ts'

/** Rolls back to the savepoint `sign_up`. */
export async function dryRunEmailSignUp(
  app: FastifyInstance,
  trx: Trx,
  { user: input, context }: EmailSignUp,
  now: Date,
): Promise<UserRecord> {
  const { address } = input.contact
  const unused = { ...input.contact, address: `${crypto.randomUUID()}@dry-run.invalid` }
  const user = await createUnconfirmedUser(app, trx, { ...input, contact: unused }, now)
  if (!user) throw new Error('a random address was taken')
  const sent = await sendUncountedLinkEmail(app, trx, 'confirmation', user, context, now)
  await rollbackToSavepoint(trx, 'sign_up')
  const metadata = { ...user.raw_user_meta_data, email: address }
  return { ...user, ...sent, email: address, raw_user_meta_data: metadata, identities: [] }
}

/** A dry run of a sign-up by phone, for a number that gets no account. */
export async function dryRunPhoneOtp(
  app: FastifyInstance,
  trx: Trx,
  { contact, aud, data }: SignUpContact,
  ip: string,
  now: Date,
): Promise<void> {
  const permit = { userId: crypto.randomUUID(), ip }
  const user = { contact, aud, data, permit, passwordHash: null, byAdmin: false }
  await createSavepoint(trx, 'sign_up')
  await dryRunPhoneSignUp(app, trx, user, now)
}

/** Rolls back to the savepoint `sign_up`. */
export async function dryRunPhoneSignUp(
  app: FastifyInstance,
  trx: Trx,
  input: SignUpInput,
  now: Date,
): Promise<UserRecord> {
  const phone = input.contact.address
  const unused = `0${randomInt(10 ** 14)}`
  const contact = { ...input.contact, address: unused }
  const user = await createUnconfirmedUser(app, trx, { ...input, contact }, now)
  if (!user) throw new Error('a random number was taken')
  const message = { phone: unused, code: String(randomInt(10 ** 6)), messageId: user.id }
  const sent = await storeSms(app, trx, user.id, { purpose: 'confirmation', ...message }, now)
  await rollbackToSavepoint(trx, 'sign_up')
  return { ...user, ...sent, phone, identities: [] }
}
