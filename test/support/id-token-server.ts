/** A server that accepts id_tokens of a provider on loopback. */
import assert from 'node:assert/strict'

import type { Ending } from './processes/ending.ts'
import { cases } from './providers/documented.ts'
import { client, startFakeProvider } from './providers/fake-provider.ts'
import { signIdToken } from './providers/keys.ts'
import { build } from './server.ts'

/** In dev mode, where an issuer may be on loopback. */
export async function idTokenServer(t: Ending, more: Record<string, string> = {}) {
  const documented = cases.google?.documented
  assert.ok(documented)
  const { issuer } = await startFakeProvider(t, documented)
  const env = {
    AUTH_EXTERNAL_OIDC_ACME_ISSUER: issuer,
    AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: client.id,
    AUTH_EXTERNAL_OIDC_ACME_SECRET: client.secret,
    AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: client.redirectUri,
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    ...more,
  }
  const built = await build(t, { dev: true, env })
  const claims = { iss: issuer, aud: client.id, sub: 'attacker-1', email: 'attacker@ex.test' }

  /** Adds the provider's account to the user of the token. */
  async function link(accessToken: string) {
    const id_token = await signIdToken(claims, new Date())
    return built.app.inject({
      method: 'POST',
      url: '/token?grant_type=id_token',
      headers: { authorization: `Bearer ${accessToken}` },
      payload: { provider: 'acme', id_token, link_identity: true },
    })
  }

  /** Signs in, or up, with an id_token of the provider's. */
  async function signInWith(account: { sub: string; email: string }) {
    const id_token = await signIdToken({ ...claims, email_verified: true, ...account }, new Date())
    const payload = { provider: 'acme', id_token }
    return built.app.inject({ method: 'POST', url: '/token?grant_type=id_token', payload })
  }
  return { ...built, link, signInWith }
}
