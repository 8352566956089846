import type { Trx } from '../core/database.ts'

interface SamlCode {
  id: string
  userId: string
  code: string
}

/** Issues the auth code of a flow. Returns false when the flow was deleted. */
export async function issueSamlCode(
  trx: Trx,
  { id, userId, code }: SamlCode,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('flow_state')
    .set({ user_id: userId, auth_code: code, auth_code_issued_at: now, updated_at: now })
    .where('id', '=', id)
    .where('auth_code_issued_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}
