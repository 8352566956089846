/** Warns at each start of a provider whose issuer or URL was changed in the configuration while users have identities. */
import { bindIssuer, findIssuers } from '../../../db/custom-providers/providers.ts'
import type { ProviderSettings } from '../../../providers/core/types.ts'
import type { Deps } from '../../define-plugin.ts'

/** Stands for the usual host of a provider. */
const usual = 'default'

/** Stores where the identities of each provider come from; it stays while there are any. */
export async function storeIssuers(
  { db, log }: Deps<'db' | 'log'>,
  providers: ReadonlyMap<string, ProviderSettings>,
): Promise<void> {
  if (providers.size === 0) return
  const known = await findIssuers(db, [...providers.keys()])
  for (const [provider, { issuer: named, url }] of providers) {
    const issuer = named ?? url ?? usual
    const before = known.get(provider)
    if (before === issuer) continue
    const binding = { identifier: provider, issuer }
    if (await db.transaction().execute((trx) => bindIssuer(trx, binding))) continue
    log.error({ provider, issuer, before }, 'provider has identities of another issuer')
  }
}
