/**
 * The redirect URIs of external providers. A provider with one of its own cannot obtain the code of another provider:
 * the code arrives at the other's redirect URI (mix-up, RFC 9700 §4.4.2).
 */

export interface CallbackBases {
  AUTH_API_EXTERNAL_URL: string
  AUTH_CUSTOM_OAUTH_EXTERNAL_URL?: string | undefined
}

/** Of the providers that have none of their own. */
export const sharedCallbackUrl = (base: string): string => `${base}/callback`

/**
 * Not below /callback: some providers accept every redirect URI below the registered one, so that it could be chosen
 * for a code of theirs.
 */
export const ownCallbackUrl = (base: string, provider: string): string =>
  `${base}${ownCallbackPath(provider)}`

/** Whether the redirect URI is the provider's own, at whatever host. */
export function isOwnCallback(redirectUri: string, provider: string): boolean {
  return URL.parse(redirectUri)?.pathname.endsWith(ownCallbackPath(provider)) === true
}

/** What to register at a provider that an admin added. */
export function customCallbackUrl(
  {
    AUTH_API_EXTERNAL_URL,
    AUTH_CUSTOM_OAUTH_EXTERNAL_URL: base = AUTH_API_EXTERNAL_URL,
  }: CallbackBases,
  { identifier, own_callback }: { identifier: string; own_callback: boolean },
): string {
  return own_callback ? ownCallbackUrl(base, identifier) : sharedCallbackUrl(base)
}

const ownCallbackPath = (provider: string) => `/providers/${provider}/callback`
