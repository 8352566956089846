import type { ProviderSettings } from './provider.ts'

/** The configured base URL without a trailing slash, or the provider's own host. */
export function baseUrl({ url }: ProviderSettings, standard: string): string {
  return (url || standard).replace(/\/$/, '')
}

/** The same address at the configured API, path and query as they are. */
export function atApi({ apiUrl }: ProviderSettings, url: string): string {
  if (!apiUrl) return url
  const { pathname, search } = new URL(url)
  return apiUrl.replace(/\/$/, '') + pathname + search
}
