/** Which providers' users are matched with each other by their addresses. */
import type { FastifyInstance } from 'fastify'

/** Accounts are matched within a linking domain; users with passwords are in this one. */
export const defaultDomain = 'default'

/** The configured domain of the provider; one of its own for SAML and for those that are listed. */
export function getLinkingDomain({ config }: FastifyInstance, provider: string): string {
  const configured = config.AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS[provider]
  if (configured !== undefined) return configured
  const own = config.AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN
  return own.includes(provider) || provider.startsWith('sso:') ? provider : defaultDomain
}

/** True for SSO providers: their users are never matched with others. */
export function isSsoProvider(app: FastifyInstance, provider: string): boolean {
  return getLinkingDomain(app, provider) !== defaultDomain
}
