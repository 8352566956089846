import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/database.ts'
import { findUser, type UserRecord } from '../../../db/users.ts'
import type { LinkContext } from '../../../plugins/accounts/flows/link-context.ts'
import type { Channel } from '../../../plugins/accounts/otp/sms-otp.ts'
import type { Changes } from '../../../plugins/accounts/users/profile.ts'
import type { Bearer } from '../../../plugins/bearer-auth.ts'
import type { Client } from '../../../plugins/client-ip.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { type ChangeBody, readChanges } from './changes.ts'

/**
 * Changes the person who asks, and returns them as they are then. Throws what `readChanges`, `users.checkProfile` and the
 * steps for each kind of change throw.
 */
export async function changeThemselves(
  house: FastifyInstance,
  request: FastifyRequest<{ Body: ChangeBody }>,
): Promise<UserRecord> {
  const { bearerAuth, db, flows, users } = house
  const { body, client, clientIp: ip } = request
  const bearer = bearerAuth.bearerOf(request)
  const now = new Date()
  const changes = await readChanges(house, bearer.user, body)
  const context = flows.linkContext(request, body)
  const channel = house.sms.channelOf(changes.phone ? body.channel : undefined)
  users.checkProfile(bearer, changes, now)
  users.checkMetadata({ user_metadata: changes.data, app_metadata: changes.app_metadata })

  if (changesOnlyMetadata(changes)) {
    return users.putProfile(db, bearer.user, changes, { ip, now })
  }
  const prepared = await prepare(house, bearer, changes, { body, channel }, now)
  const asked = { changes, prepared, client, context }
  const changed = await db
    .transaction()
    .execute((trx) => apply(house, trx, bearer, asked, { ip, now }))
  await prepared.password?.attempt?.succeeded(db)
  return changed
}

/** The person's own, which nothing else depends on. */
function changesOnlyMetadata({ email, phone, password, app_metadata }: Changes): boolean {
  return !email && !phone && password === undefined && !app_metadata
}

/**
 * What the changes take before the transaction begins, undefined for what is not changed. Whoever is refused there has
 * waited all the same.
 */
async function prepare(
  { credentials, db, passwords }: House<'credentials' | 'db' | 'passwords'>,
  bearer: Bearer,
  { email, phone, password }: Changes,
  { body, channel }: { body: ChangeBody; channel: Channel },
  now: Date,
) {
  const { user } = bearer
  const renew = async (newPassword: string) => {
    const { nonce, current_password: currentPassword } = body
    const change = { password: newPassword, nonce, currentPassword }
    const attempt = await credentials.checkPasswordChange(db, bearer, change, now)
    return { attempt, hash: await passwords.hash(newPassword) }
  }
  return {
    password: password === undefined ? undefined : await renew(password),
    email: email ? await credentials.claimEmailChange(db, user, email, now) : undefined,
    phone: phone ? await credentials.askPhoneChange(db, user, { phone, channel }, now) : undefined,
  }
}

interface Asked {
  changes: Changes
  prepared: Awaited<ReturnType<typeof prepare>>
  client: Client
  context: LinkContext
}

async function apply(
  { bearerAuth, credentials, users }: House<'bearerAuth' | 'credentials' | 'users'>,
  trx: Trx,
  bearer: Bearer,
  { changes, prepared, client, context }: Asked,
  { ip, now }: { ip: string; now: Date },
): Promise<UserRecord> {
  // Their session may have ended while the changes were prepared.
  const held = await bearerAuth.hold(trx, bearer, now)
  users.checkProfile(held, changes, now)
  if (prepared.password) {
    const { hash } = prepared.password
    const replaces = bearer.user.encrypted_password
    const change = { hash, replaces, keepSession: bearer.session?.session_id, client }
    await credentials.putPassword(trx, held.user, change, { ip, now })
  }
  const changed = await users.putProfile(trx, bearer.user, changes, { ip, now })
  const { email, phone } = prepared
  // What applies at once voids all codes on their way, so it comes before the one that was just sent.
  if (changes.phone && !phone) await credentials.putPhone(trx, changed, changes.phone, now)
  if (email) await credentials.startEmailChange(trx, changed, email, context, now)
  if (phone) await credentials.acceptPhoneChange(trx, changed, phone, now)
  return (await findUser(trx, changed.id)) ?? changed
}
