/** Identities at providers, under the names that this server has for them. */
import type { Fields } from './fields.ts'

/** A name of the exporting service, and the provider here. */
export type Providers = ReadonlyMap<string, string>

interface Identity {
  provider: string
  provider_id?: string
  identity_data?: object
  created_at?: string | undefined
}

/** What an export says of an identity: the provider's name and id of the user. */
export interface Link {
  name: string
  id: string | undefined
  data?: object
  createdAt?: string | undefined
}

/**
 * Their ids at the provider are kept. One without id, or of a provider that is not in the list, is counted in `owner`:
 * `--provider NAME=OURS` adds a provider.
 */
export function toIdentities(owner: Fields, providers: Providers, links: Link[]): Identity[] {
  return links.flatMap(({ name, id, data, createdAt }) => {
    const provider = providers.get(name)
    if (provider && id)
      return [
        { provider, provider_id: id, identity_data: { sub: id, ...data }, created_at: createdAt },
      ]
    owner.leaveOut(`identity of ${name}`, provider ? 'no id' : 'unknown provider')
    return []
  })
}

/**
 * For a user who signs in by provider: the given ones, and the user's own address and phone number where they sign in
 * with it. Without an identity of a provider, the import makes both.
 */
export function withAddresses(
  external: Identity[],
  { email, phone }: { email: boolean; phone: boolean },
): { identities?: Identity[] } {
  if (external.length === 0) return {}
  const own = [...(email ? [{ provider: 'email' }] : []), ...(phone ? [{ provider: 'phone' }] : [])]
  return { identities: [...own, ...external] }
}
