/** What a GoTrue was used for that this server does not do yet: people would find themselves locked out. */
import { type QueryExecutorProvider, sql } from 'kysely'

import { hasTable } from './gotrue-database.ts'

/** By the name that AUTH_TAKEOVER_ACCEPT_MISSING lists. */
export const missingFeatures = {
  saml: 'single sign-on by SAML',
  oauth_server: 'the OAuth server for other applications',
  custom_providers: 'providers that were added at run time',
  web3: 'sign-in with a wallet',
} as const

export type MissingFeature = keyof typeof missingFeatures

const traces: Record<MissingFeature, { table: string; rows: string }> = {
  saml: { table: 'saml_providers', rows: 'true' },
  oauth_server: { table: 'oauth_clients', rows: 'deleted_at is null' },
  custom_providers: { table: 'custom_oauth_providers', rows: 'enabled' },
  web3: { table: 'identities', rows: "provider = 'web3'" },
}

/** Those of which the database has rows, with how many. */
export async function findMissingInUse(
  db: QueryExecutorProvider,
  schema: string,
): Promise<{ feature: MissingFeature; rows: number }[]> {
  const found: { feature: MissingFeature; rows: number }[] = []
  for (const feature of Object.keys(missingFeatures) as MissingFeature[]) {
    const { table, rows: condition } = traces[feature]
    if (!(await hasTable(db, schema, table))) continue
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${sql.id(schema, table)} where ${sql.raw(condition)}
    `.execute(db)
    const count = rows[0]?.count ?? 0
    if (count > 0) found.push({ feature, rows: count })
  }
  return found
}
