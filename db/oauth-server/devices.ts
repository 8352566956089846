/** Device authorization (RFC 8628): a device polls while its user approves on another device. */
import type { Db, Trx } from '../core/database.ts'
import type { OauthDeviceCodesTable, StoredAuthentication } from '../tables/oauth-server.ts'

export type DeviceCode = Omit<OauthDeviceCodesTable, 'status'> & {
  status: 'pending' | 'approved' | 'denied'
}

type NewDeviceCode = Pick<
  OauthDeviceCodesTable,
  'id' | 'user_code' | 'client_id' | 'scope' | 'resources' | 'interval_seconds' | 'expires_at'
>

/** False when the user code is taken. */
export async function insertDeviceCode(db: Db, code: NewDeviceCode, now: Date): Promise<boolean> {
  const result = await db
    .insertInto('postern_oauth_device_codes')
    .values({
      ...code,
      user_id: null,
      session_id: null,
      auth_time: null,
      aal: null,
      amr: null,
      last_polled_at: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** A pending user code, locked until the transaction ends. */
export function lockDeviceByUserCode(
  trx: Trx,
  userCode: string,
  now: Date,
): Promise<DeviceCode | undefined> {
  return trx
    .selectFrom('postern_oauth_device_codes')
    .selectAll()
    .where('user_code', '=', userCode)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .forUpdate()
    .executeTakeFirst()
}

/** The user who decided about a device code; null before the decision. */
export async function findDeviceUser(trx: Trx, id: string): Promise<string | null> {
  const row = await trx
    .selectFrom('postern_oauth_device_codes')
    .select('user_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.user_id ?? null
}

/** A device code, locked until the transaction ends. */
export function lockDevice(trx: Trx, id: string): Promise<DeviceCode | undefined> {
  return trx
    .selectFrom('postern_oauth_device_codes')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Records the time of a poll. */
export async function recordPoll(trx: Trx, id: string, now: Date): Promise<void> {
  await trx
    .updateTable('postern_oauth_device_codes')
    .set({ last_polled_at: now })
    .where('id', '=', id)
    .execute()
}

/** Records that the user approved. */
export async function approveDevice(
  trx: Trx,
  id: string,
  userId: string,
  signIn: StoredAuthentication,
): Promise<void> {
  await trx
    .updateTable('postern_oauth_device_codes')
    .set({ ...signIn, status: 'approved', user_id: userId })
    .where('id', '=', id)
    .execute()
}

/** Records that the user denied. */
export async function denyDevice(trx: Trx, id: string, userId: string): Promise<void> {
  await trx
    .updateTable('postern_oauth_device_codes')
    .set({ status: 'denied', user_id: userId })
    .where('id', '=', id)
    .execute()
}

/** Deletes a code that was exchanged, or whose denial was reported. */
export async function deleteDevice(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('postern_oauth_device_codes').where('id', '=', id).execute()
}
