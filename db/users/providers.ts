/** The sign-in methods of a user in app_metadata. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { storedObject } from '../core/stored-json.ts'

/** Sets app_metadata.provider and .providers from the identities, oldest first. */
export async function recomputeProviders(db: Db, userId: string, now: Date): Promise<void> {
  await db
    .with('listed', (eb) =>
      eb
        .selectFrom('identities')
        .select((select) => ['provider', select.fn.min('created_at').as('first')])
        .where('user_id', '=', userId)
        .groupBy('provider'),
    )
    .updateTable('users')
    .set((eb) => ({
      updated_at: now,
      raw_app_meta_data: sql<string>`${storedObject(sql`raw_app_meta_data`)} || ${eb
        .selectFrom('listed')
        .select(
          sql`jsonb_build_object('provider', (array_agg(provider order by first))[1], 'providers', jsonb_agg(provider order by first))`.as(
            'meta',
          ),
        )}`,
    }))
    .where('id', '=', userId)
    .where((eb) => eb.exists(eb.selectFrom('listed').select('provider')))
    .execute()
}
