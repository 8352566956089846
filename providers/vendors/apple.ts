import { baseUrl } from '../base-url.ts'
import { verifyCallbackIdToken } from '../callback-id-token.ts'
import { parseJson } from '../http.ts'
import { email, fullName, person } from '../identity.ts'
import { discoveredEndpoints } from '../issuers.ts'
import { at, text, truth, unlessDenied } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import { type Claims, ProviderError, type Vendor } from '../provider.ts'
import { createAppleSecret } from './apple-secret.ts'

const standard = 'https://appleid.apple.com'
const issuersOfApple = [standard, 'https://account.apple.com']

export const apple: Vendor = {
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
      AUTH_EXTERNAL_APPLE_PRIVATE_KEY: 'content of the .p8 file; line ends may be written as \\n',
      AUTH_EXTERNAL_IOS_BUNDLE_ID: 'bundle id of the native app whose id_tokens are accepted too',
    },
    notes: [
      'AUTH_EXTERNAL_APPLE_SECRET is a ready-made ES256 JWT (Apple allows six months). With team id, key id and private key it is left out: the server makes a fresh one for every sign-in.',
      'Apple answers with a POST of a form to the redirect URI.',
      'The name comes only at the first sign-in of a person. With a private relay address, `custom_claims.is_private_email` is true.',
      'Of accounts that a school or company manages, Apple may say that the address is not verified. Then it counts as such.',
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
        const { sub, emails, claims: known } = profileOf(claims)
        return { sub, emails, claims: { ...known, ...nameOf(grant.callback.params.user) } }
      },
    })
  },

  idToken: { accepts: acceptsIssuer, nonce: true, mayLackNonce, profile: profileOf },
}

/** Apple says so of a person who signs in on a system that is too old for nonces. */
function mayLackNonce({ nonce_supported }: Claims): boolean {
  return nonce_supported === false || nonce_supported === 'false'
}

function acceptsIssuer(issuer: string, settings: { url?: string | undefined }): boolean {
  return settings.url ? issuer === settings.url.replace(/\/$/, '') : issuersOfApple.includes(issuer)
}

function profileOf(claims: Claims) {
  const { iss, is_private_email, auth_time, transfer_sub } = claims
  const sub = text(claims.sub)
  // False at times for accounts that an organization manages: it may give them any address.
  const email_verified = unlessDenied(claims.email_verified)
  const custom_claims = {
    ...(is_private_email !== undefined && { is_private_email: truth(is_private_email) }),
    ...(auth_time !== undefined && { auth_time }),
    ...(transfer_sub !== undefined && { transfer_sub }),
  }
  return {
    sub,
    claims: { ...person(sub, ''), iss, email_verified, custom_claims },
    emails: email(text(claims.email), { verified: email_verified }),
  }
}

/** Sent by the browser, not signed: good for a name, never for the address in it. */
function nameOf(user: string | undefined): Claims {
  if (!user) return {}
  const form = parseJson(user)
  if (form === undefined) throw new ProviderError('user_form', 'the user field is not JSON')
  const name = fullName(text(at(form, 'name', 'firstName')), text(at(form, 'name', 'lastName')))
  return { name, full_name: name }
}
