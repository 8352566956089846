import { isSameUri } from '../../schemas/values/uris.ts'
import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'
import { genericProfile } from '../oidc/generic-claims.ts'

const standard = 'https://accounts.snapchat.com'
const scopes = ['user.external_id', 'user.display_name', 'user.bitmoji.avatar'].map(
  (name) => `https://auth.snapchat.com/oauth2/api/${name}`,
)
const query = '{me { externalId displayName bitmoji { avatar id } email }}'

export const snapchat: NamedProviderDefinition = {
  name: 'Snapchat',
  docs: {
    title: 'Snapchat',
    register: 'https://kit.snapchat.com/manage',
    steps: [
      'Create an app with Login Kit for the web (confidential client), add the redirect URI.',
    ],
    scopes: scopes.join(' '),
    url: 'replaces accounts.snapchat.com and kit.snapchat.com',
    notes: [
      'Snapchat rarely returns an email address: set AUTH_EXTERNAL_SNAPCHAT_EMAIL_OPTIONAL=true.',
    ],
  },

  create(settings, upstream) {
    const accounts = `${baseUrl(settings, standard)}/accounts/oauth2`
    const me = `${baseUrl(settings, 'https://kit.snapchat.com')}/v1/me`
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${accounts}/auth`, token: `${accounts}/token` }),
      scopes,
      async profile({ get }) {
        const reply = await get(`${me}?query=${encodeURIComponent(query)}`)
        const user = getPath(reply, 'data', 'me')
        const id = asText(getPath(user, 'externalId'))
        const name = asText(getPath(user, 'displayName'))
        const picture = asText(getPath(user, 'bitmoji', 'avatar'))
        return {
          sub: id,
          claims: { ...toProfileNames(id, name, picture), slug: name, iss: `${accounts}/token` },
          emails: email(asText(getPath(user, 'email')), { verified: true }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) =>
      isSameUri(issuer, `${baseUrl(settings, standard)}/accounts/oauth2/token`),
    nonce: true,
    profile: (claims) => genericProfile(claims),
  },
}
