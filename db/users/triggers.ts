/** `returning` does not see changes by `after` triggers of the operator: the row is then read again. */
import { sql } from 'kysely'

/** Returned with the changed row, for `hasTriggers`. */
export const usersTableId = sql<number>`users.tableoid`.as('table_id')

/** Whether the table of the CTE `row` has triggers. Internal ones, of foreign keys, change nothing. */
export const hasTriggers = (
  row: 'target_user' | 'confirmed',
) => sql<boolean>`exists (select from pg_trigger
  where tgrelid = ${sql.ref(`${row}.table_id`)} and not tgisinternal)`
