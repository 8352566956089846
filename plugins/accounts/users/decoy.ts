/**
 * The answer to a sign-up with a taken address: all that a first sign-up does is done under an address that nobody has,
 * and undone, so that the answer is built by the same code and takes the same time as that of a new address.
 */
import { randomInt } from 'node:crypto'

import { sql } from 'kysely'

import type { Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { CreateHouse } from './create.ts'
import { createRegistrant, type Registrant } from './register.ts'
import type { EmailSignUp } from './sign-up-by-email.ts'

/** Inside the savepoint `sign_up`, to which it goes back. */
export async function decoyByEmail(
  house: CreateHouse & House<'emails'>,
  trx: Trx,
  { person, context }: EmailSignUp,
  now: Date,
): Promise<UserRecord> {
  const { address } = person.contact
  const nobody = { ...person.contact, address: `${crypto.randomUUID()}@rehearsal.invalid` }
  const user = await createRegistrant(house, trx, { ...person, contact: nobody }, now)
  if (!user) throw new Error('a random address was taken')
  const sent = await house.emails.sendUncountedLink(trx, 'confirmation', user, context, now)
  await sql`rollback to savepoint sign_up`.execute(trx)
  const metadata = { ...user.raw_user_meta_data, email: address }
  return { ...user, ...sent, email: address, raw_user_meta_data: metadata, identities: [] }
}

/** Inside the savepoint `sign_up`, to which it goes back. */
export async function decoyByPhone(
  house: CreateHouse & House<'otp'>,
  trx: Trx,
  person: Registrant,
  now: Date,
): Promise<UserRecord> {
  const phone = person.contact.address
  const nobody = `0${randomInt(10 ** 14)}`
  const contact = { ...person.contact, address: nobody }
  const user = await createRegistrant(house, trx, { ...person, contact }, now)
  if (!user) throw new Error('a random number was taken')
  const message = { phone: nobody, code: String(randomInt(10 ** 6)), messageId: user.id }
  const sent = await house.otp.storeSms(trx, user.id, { purpose: 'confirmation', ...message }, now)
  await sql`rollback to savepoint sign_up`.execute(trx)
  return { ...user, ...sent, phone, identities: [] }
}
