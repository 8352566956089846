import type { Db } from '../../../db/database.ts'
import { refundSendQuota } from '../../../db/quota-refunds.ts'
import type { House } from '../../define-plugin.ts'

/**
 * Sends a text message that counts to the quota of this window already. One that the provider refused is given back: it has cost
 * nothing, and a provider that fails would keep everybody out for an hour.
 */
export async function orRefund(
  { sms }: House<'sms'>,
  db: Db,
  windowBegan: Date | undefined,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (windowBegan && sms.isUnsent(error)) await refundSendQuota(db, 'sms', windowBegan)
    throw error
  }
}
