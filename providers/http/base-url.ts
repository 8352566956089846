import type { ProviderSettings } from '../core/types.ts'

/** The configured base URL without a trailing slash, or the provider's host. */
export function baseUrl({ url }: ProviderSettings, standard: string): string {
  return (url || standard).replace(/\/$/, '')
}

/** The URL at the configured API host, with its path and query. */
export function atApi({ apiUrl }: ProviderSettings, url: string): string {
  if (!apiUrl) return url
  const { pathname, search } = new URL(url)
  return apiUrl.replace(/\/$/, '') + pathname + search
}
