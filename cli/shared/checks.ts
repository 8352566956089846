/** Checks of `npm run doctor` that precede a takeover too: SAML metadata, and the database functions of hooks. */
import { sql } from 'kysely'

import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { listSamlMetadata } from '../../db/saml/providers.ts'
import { getSamlMetadata, isMetadataExpired } from '../../modules/saml/index.ts'

/** Returns a sentence for each enabled provider; none while SAML is off. Throws when the tables cannot be read. */
export async function describeExpiredMetadata(
  { config, db }: { config: Config; db: Db },
  now: Date,
): Promise<string[]> {
  if (!config.AUTH_SAML_ENABLED) return []
  const providers = await listSamlMetadata(db)
  return (await Promise.all(providers.map((provider) => describe(provider, now)))).flat()
}

type Provider = Awaited<ReturnType<typeof listSamlMetadata>>[number]

async function describe(provider: Provider, now: Date): Promise<string[]> {
  const { id, entity_id, metadata_url: url } = provider
  const metadata = await getSamlMetadata(provider).catch(() => undefined)
  if (!metadata || !isMetadataExpired(metadata, now)) return []
  const action = url
    ? `check that ${url} is reachable and has a current document`
    : `send a current document with PUT /admin/sso/providers/${id}, or set a metadata_url`
  const expiry = metadata.expiresAt?.toISOString()
  return [
    `The metadata of ${entity_id} (${id}) expired at ${expiry}, and sign-ins are rejected: ${action}.`,
  ]
}

interface HookFunction {
  /** Schema and name. */
  called: string
  login: string
  state: 'missing' | 'denied' | 'callable'
}

/** Looks up the function that a `pg-functions:` URI names. */
export async function findHookFunction(db: Db, { pathname }: URL): Promise<HookFunction> {
  const [schema = '', name = ''] = pathname.slice(1).split('/').map(decodeURIComponent)
  const { rows } = await sql<{ login: string; callable: boolean | null }>`
    select current_user as login, (
      select bool_or(has_function_privilege(pg_proc.oid, 'execute')
        and has_schema_privilege(pg_namespace.oid, 'usage'))
      from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where nspname = ${schema} and proname = ${name}
        and pronargs - pronargdefaults <= 1 and proargtypes[0] in ('jsonb'::regtype, 'json'::regtype)
    ) as callable`.execute(db)
  const { login = '', callable = null } = rows[0] ?? {}
  const state = callable === null ? 'missing' : callable ? 'callable' : 'denied'
  return { called: `${schema}.${name}`, login, state }
}
