/** Metadata and keys of any issuer, without a network; records requests. */
import { signing } from './keys.ts'

export function fakeIssuer() {
  const state = {
    keys: [signing.jwk] as unknown[],
    /** Changed metadata, or an invalid response. */
    changes: {} as object | string,
    /** No request gets a response. */
    silent: false,
    algorithms: ['RS256', 'HS256', 'none'] as string[] | undefined,
    down: false,
    asked: [] as string[],
    /** Issuers whose metadata names another one. */
    renamed: new Map<string, string>(),
  }

  const fetch: typeof globalThis.fetch = async (input) => {
    const url = input instanceof Request ? input.url : input.toString()
    state.asked.push(url)
    if (state.down) throw new TypeError('fetch failed')
    if (state.silent) return new Promise(() => {})
    if (url.endsWith('/jwks')) return Response.json({ keys: state.keys })
    if (typeof state.changes === 'string') return new Response(state.changes)
    const address = url.replace('/.well-known/openid-configuration', '')
    // Microsoft's older issuers end with a slash.
    const issuer = address.includes('sts.windows.net') ? `${address}/` : address
    return Response.json({
      issuer: state.renamed.get(issuer) ?? issuer,
      authorization_endpoint: `${address}/authorize`,
      token_endpoint: `${address}/token`,
      jwks_uri: `${address}/jwks`,
      id_token_signing_alg_values_supported: state.algorithms,
      ...state.changes,
    })
  }

  return { state, fetch }
}
