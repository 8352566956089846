import { importPKCS8, SignJWT } from 'jose'

import { isSameUri } from '../../schemas/values/uris.ts'
import { email, fullName, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { ProviderError } from '../core/provider-error.ts'
import type { Claims, ProviderSettings } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText, getPath } from '../http/json.ts'
import { parseResponseJson } from '../http/request.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'
import { discoveredEndpoints } from '../oidc/issuers.ts'

const standard = 'https://appleid.apple.com'
const issuersOfApple = [standard, 'https://account.apple.com']

export const apple: NamedProviderDefinition = {
  name: 'Apple',
  docs: {
    title: 'Apple',
    register: 'https://developer.apple.com/account/resources/identifiers/list/serviceId',
    steps: [
      'Create an App ID with "Sign in with Apple", then a Services ID that belongs to it; the Services ID is the client id.',
      'In the Services ID, configure the domain of this server and the redirect URI as return URL (https only, no localhost).',
      'Create a key with "Sign in with Apple" and download it once.',
    ],
    scopes: 'email name',
    url: 'the issuer, for tests',
    variables: {
      AUTH_EXTERNAL_APPLE_TEAM_ID: 'ten characters, from the membership page',
      AUTH_EXTERNAL_APPLE_KEY_ID: 'ten characters, from the key page',
      AUTH_EXTERNAL_APPLE_PRIVATE_KEY: 'content of the .p8 file; \\n may stand for line breaks',
      AUTH_EXTERNAL_IOS_BUNDLE_ID: 'bundle id of a native app whose id_tokens are also accepted',
    },
    notes: [
      'AUTH_EXTERNAL_APPLE_SECRET is a ready-made ES256 JWT (Apple allows six months). With team id, key id and private key it is not needed: the server creates one for every sign-in.',
      'Apple responds with a form POST to the redirect URI.',
      'Apple sends the name only at the first sign-in of a user. With a private relay address, `custom_claims.is_private_email` is true.',
      'An address is verified if `email_verified` is true. For accounts managed by a school or company it may be false.',
    ],
  },

  create(settings, upstream) {
    const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
    const url = baseUrl(settings, standard)
    return oauth2Provider(settings, upstream, {
      endpoints: discoveredEndpoints(upstream.issuers, url, accepts),
      scopes: ['email', 'name'],
      nonce: true,
      extraScopes: false,
      passthrough: false,
      params: { response_mode: 'form_post' },
      clientAuth: ['body'],
      clientSecret: createAppleSecret(settings),
      async profile(grant) {
        const claims = await verifyCallbackIdToken(upstream.issuers, grant, {
          accepts,
          settings,
          mayLackNonce,
          discoverAt: settings.url && url,
        })
        const { sub, emails, claims: known } = toProfile(claims)
        return { sub, emails, claims: { ...known, ...readName(grant.callback.params.user) } }
      },
    })
  },

  idToken: { accepts: acceptsIssuer, nonce: true, mayLackNonce, profile: toProfile },
}

/** Apple sets this claim for a user whose system does not support nonces. */
function mayLackNonce({ nonce_supported }: Claims): boolean {
  return nonce_supported === false || nonce_supported === 'false'
}

function acceptsIssuer(issuer: string, settings: { url?: string | undefined }): boolean {
  return settings.url
    ? isSameUri(issuer, settings.url.replace(/\/$/, ''))
    : issuersOfApple.includes(issuer)
}

function toProfile(claims: Claims) {
  const { iss, is_private_email, auth_time, transfer_sub } = claims
  const sub = asText(claims.sub)
  // False for some accounts that an organization manages: it can assign any address.
  const email_verified = asBoolean(claims.email_verified)
  const custom_claims = {
    ...(is_private_email !== undefined && { is_private_email: asBoolean(is_private_email) }),
    ...(auth_time !== undefined && { auth_time }),
    ...(transfer_sub !== undefined && { transfer_sub }),
  }
  return {
    sub,
    claims: { ...toProfileNames(sub, ''), iss, email_verified, custom_claims },
    emails: email(asText(claims.email), { verified: email_verified }),
  }
}

/** Sent by the browser without a signature: used for the name, never for the email. */
function readName(user: string | undefined): Claims {
  if (!user) return {}
  const form = parseResponseJson(user)
  if (form === undefined) throw new ProviderError('user_form', 'the user field is not JSON')
  const name = fullName(
    asText(getPath(form, 'name', 'firstName')),
    asText(getPath(form, 'name', 'lastName')),
  )
  return { name, full_name: name }
}

/**
 * Returns a function that returns the configured secret or, given team id, key id and private key, a new one valid for
 * five minutes. Throws ProviderError configuration.
 */
export function createAppleSecret(settings: ProviderSettings): (now: Date) => Promise<string> {
  const { secret, teamId, keyId, privateKey } = settings
  return async (now) => {
    const clientId = settings.clientIds[0]
    if (secret) return secret
    if (!clientId || !teamId || !keyId || !privateKey) {
      throw new ProviderError('configuration', 'no secret, and no team id, key id and key')
    }
    const issuedAt = Math.floor(now.getTime() / 1000)
    const jwt = new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + 300)
    return jwt.sign(await importKey(privateKey))
  }
}

async function importKey(privateKey: string) {
  try {
    return await importPKCS8(privateKey.replaceAll('\\n', '\n').trim(), 'ES256')
  } catch {
    // The library's message might contain the key.
    throw new ProviderError('configuration', 'the private key is not a PKCS #8 P-256 key')
  }
}
