/** The package oidc-provider, loaded when it is there: production installs without development packages. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { exportJWK, generateKeyPair } from 'jose'

import type { ProviderSettings } from '../../providers/provider.ts'

type Handle = (request: IncomingMessage, response: ServerResponse, url: string) => void

const mount = '/dev/oidc'
/** Seconds. */
const hour = 3600

export function isInstalled(): boolean {
  try {
    return import.meta.resolve('oidc-provider') !== ''
  } catch {
    return false
  }
}

export async function startOpenidProvider(settings: ProviderSettings): Promise<Handle> {
  const { clientIds, secret, redirectUri, issuer = '' } = settings
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientIds[0] ?? '',
        client_secret: secret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [await newKey()] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    pkce: { required: () => true },
    ttl: { AccessToken: hour, Grant: hour, IdToken: hour, Interaction: hour, Session: hour },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, login) => ({ accountId: login, claims: () => personOf(login) }),
  })
  const handle = provider.callback()
  return (request, response, url) => {
    // It builds its addresses from what was cut off the path.
    Object.assign(request, { originalUrl: url, url: url.slice(url.indexOf(mount) + mount.length) })
    handle(request, response)
  }
}

/** Whatever is typed as login: an address is that address, a name becomes one. */
function personOf(login: string) {
  const email = login.includes('@') ? login : `${login}@dev.example`
  return { sub: login, name: login.split('@')[0], email, email_verified: true }
}

async function newKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: 'dev', alg: 'RS256', use: 'sig' }
}
