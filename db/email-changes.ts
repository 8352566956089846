/** Changes of the address that wait for a mailbox. */
import { sql } from 'kysely'

import type { Trx } from './database.ts'
import { deleteTokens } from './one-time-tokens.ts'

/**
 * Gives up the change of a person whose current mailbox is not asked for it: of everybody, or where there is no current one.
 * Not of somebody anonymous, who has no other way back in.
 */
export async function dropUnaskedEmailChange(
  trx: Trx,
  userId: string,
  { asksCurrent }: { asksCurrent: boolean },
): Promise<void> {
  const dropped = await trx
    .updateTable('users')
    .set({ email_change: '', email_change_confirm_status: 0 })
    .where('id', '=', userId)
    .where('email_change', '<>', '')
    .where('is_anonymous', '=', false)
    .$if(asksCurrent, (query) => query.where(sql<boolean>`coalesce(email, '') = ''`))
    .returning('id')
    .executeTakeFirst()
  if (!dropped) return
  await deleteTokens(trx, userId, ['email_change_token_current', 'email_change_token_new'])
}
