import type { ProviderSettings } from './provider.ts'

/** The configured base URL without a trailing slash, or the provider's own host. */
export function baseUrl({ url }: ProviderSettings, standard: string): string {
  return (url || standard).replace(/\/$/, '')
}
