import { isSameUri } from '../../schemas/values/uris.ts'
import { email } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import type { Claims, Profile, ProviderSettings } from '../core/types.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { verifyCallbackIdToken } from '../oidc/callback-id-token.ts'
import { genericProfile, otherClaims } from '../oidc/generic-claims.ts'

const host = 'https://login.microsoftonline.com'
const everyone = [`${host}/common`, `${host}/organizations`, `${host}/consumers`]
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const v2 = new RegExp(`^${host.replaceAll('.', '\\.')}/${uuid}/v2\\.0$`)
const others = [
  new RegExp(`^https://sts\\.windows\\.net/${uuid}/$`),
  new RegExp(`^https://[a-z0-9-]+\\.ciamlogin\\.com/${uuid}/v2\\.0$`),
]
/** The tenant of personal accounts, whose addresses Microsoft has verified. */
const personal = `${host}/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0`
const technical = [
  'aud',
  'iss',
  'iat',
  'nbf',
  'exp',
  'c_hash',
  'at_hash',
  'aio',
  'nonce',
  'rh',
  'uti',
  'jti',
  'ver',
  'sub',
  'name',
  'preferred_username',
]

export const azure: NamedProviderDefinition = {
  name: 'Microsoft',
  docs: {
    title: 'Microsoft Entra ID (Azure)',
    register: 'https://entra.microsoft.com/ (App registrations)',
    steps: [
      'Register an application; add the redirect URI on the platform "Web".',
      'Under "Certificates & secrets" create a client secret and copy its value, not its id.',
      'Under "Token configuration" add the optional claims `email` and `xms_edov` for ID tokens.',
    ],
    scopes: 'openid email profile',
    url: '`https://login.microsoftonline.com/<tenant id>` for one tenant, `https://<name>.ciamlogin.com/<tenant id>` for External ID; default: `https://login.microsoftonline.com/common`, every tenant',
    notes: [
      'With one tenant configured, tokens of every other tenant are rejected. Use the tenant id, not a domain name.',
      'An administrator of any tenant can give a user any email address. With `common` or `organizations`, an address is therefore verified only if `xms_edov` is true or the account is personal; with a single tenant, a missing `xms_edov` counts as verified.',
    ],
  },

  create(settings, upstream) {
    const base = baseUrl(settings, `${host}/common`)
    const accepts = (issuer: string) => acceptsIssuer(issuer, settings)
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${base}/oauth2/v2.0/authorize`,
        token: `${base}/oauth2/v2.0/token`,
      }),
      scopes: ['openid', 'email', 'profile'],
      pkce: true,
      nonce: true,
      async profile(grant) {
        const check = { accepts, settings }
        return toProfile(await verifyCallbackIdToken(upstream.issuers, grant, check), settings)
      },
    })
  },

  idToken: { accepts: acceptsIssuer, nonce: true, profile: toProfile },
}

function acceptsIssuer(issuer: string, settings: ProviderSettings): boolean {
  const base = baseUrl(settings, `${host}/common`)
  if (!everyone.includes(base)) return [base, `${base}/v2.0`].some((own) => isSameUri(own, issuer))
  if (base === `${host}/consumers`) return issuer === personal
  return [v2, ...others].some((pattern) => pattern.test(issuer))
}

function toProfile(claims: Claims, settings: ProviderSettings): Profile {
  const issuer = asText(claims.iss)
  const oneTenant = !everyone.includes(baseUrl(settings, `${host}/common`))
  if (!v2.test(issuer)) return genericProfile(claims, { verified: isVerified(claims, oneTenant) })
  const sub = asText(claims.sub)
  const { name, preferred_username } = claims
  return {
    sub,
    claims: {
      iss: issuer,
      sub,
      provider_id: sub,
      full_name: name,
      preferred_username,
      ...otherClaims(claims, technical),
    },
    emails: email(asText(claims.email), {
      verified: isVerified(claims, oneTenant || issuer === personal),
    }),
  }
}

/** `xms_edov`: the domain owner was verified. It is sent in several forms. */
function isVerified({ xms_edov, email_verified }: Claims, trusted: boolean): boolean {
  if (xms_edov !== undefined) return asBoolean(xms_edov) || xms_edov === '1'
  return trusted && (email_verified === undefined || asBoolean(email_verified))
}
