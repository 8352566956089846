import type { ProviderSettings } from './core/types.ts'
import type { OAuth2Flow } from './oauth/types.ts'

/** Flow options of a custom provider; empty for any other. */
export function customFlow(
  { custom, scopes = [] }: ProviderSettings,
  { isOpenid }: { isOpenid: boolean },
): Partial<OAuth2Flow> {
  if (!custom) return {}
  const required = isOpenid ? ['openid'] : []
  return {
    pkce: custom.pkce,
    params: custom.authorizationParams,
    scopesFor: (requested) => [
      ...new Set([...required, ...(requested.length > 0 ? requested : scopes)]),
    ],
    // The final redirect target of the app is not sent to the provider.
    withheld: ['redirect_to'],
  }
}
